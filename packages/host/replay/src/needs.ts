import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Fixture } from './fixture.ts'

/** A need, and the line of `dsh doctor` that says whether it is met. */
const checks: Readonly<Record<string, string>> = { sandbox: 'sandbox', bubblewrap: 'sandbox bwrap' }

export type UnmetNeeds = (fixture: Fixture) => string[]

/** What fixtures need and this machine lacks, as `dsh doctor` sees it; asked only where one needs something. */
export async function unmetNeeds(fixtures: readonly Fixture[], command: readonly string[]): Promise<UnmetNeeds> {
  const needs = new Set(fixtures.flatMap((fixture) => fixture.input.needs ?? []))
  const usable = needs.size === 0 ? new Set<string>() : await usableChecks(command)
  const met = (need: string) => (need === 'root' ? process.getuid?.() === 0 : usable.has(checks[need] ?? need))
  return (fixture) => (fixture.input.needs ?? []).filter((need) => !met(need))
}

async function usableChecks(command: readonly string[]): Promise<Set<string>> {
  const [program, ...words] = command as [string, ...string[]]
  const child = spawn(program, [...words, 'doctor', '--json'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const report: { findings: { check: string; status: string }[] } = JSON.parse(await text(child.stdout))
    return new Set(report.findings.filter((finding) => finding.status !== 'fail').map((finding) => finding.check))
  } catch {
    return new Set()
  }
}
