import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { dirname } from 'node:path'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import type { Verdict } from './probe.ts'

const Entry = lazySchema(() => z.object({ key: z.string(), holes: z.array(z.string()) }))

/** What a verdict depends on. A system that was set up differently since is found by the first command that fails. */
export function probeKey(rung: string, version: number, runner: string): string {
  return [rung, version, runner, release(), process.geteuid?.() ?? '-'].join('|')
}

/** The remembered verdict of a usable rung. Refusals are not remembered: what was missing may be there now. */
export async function recall(file: string, key: string): Promise<Verdict | undefined> {
  try {
    const entry = Entry.parse(JSON.parse(await readFile(file, 'utf8')))
    return entry.key === key ? { usable: true, detail: 'usable', holes: entry.holes } : undefined
  } catch {
    return undefined
  }
}

/** Best effort: a home that cannot be written to costs a probe in each run. */
export async function remember(file: string, key: string, verdict: Verdict): Promise<void> {
  if (!verdict.usable) return
  const staged = `${file}.${process.pid}`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(staged, JSON.stringify({ key, holes: verdict.holes }), { mode: 0o600 })
    await rename(staged, file)
  } catch {
    // nothing depends on it
  }
}
