import type { DoctorFinding } from '@dsh/host'
import { checks } from '../doctor/checks.ts'
import { resolveHome } from '../home.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh doctor [--json]

What works on this machine, and a remedy for what does not. Exit 1 when something is broken.
`

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseWords(args, { json: { type: 'boolean' } }, 0)
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const env = { home: resolveHome(), cwd: process.cwd(), env: process.env }
  const findings: DoctorFinding[] = []
  for (const check of checks) findings.push(...(await check(env)))
  const ok = findings.every((finding) => finding.status !== 'fail')
  if (values['json']) process.stdout.write(`${JSON.stringify({ ok, findings }, null, 2)}\n`)
  else for (const finding of findings) process.stdout.write(findingText(finding))
  return ok ? 0 : 1
}

function findingText({ check, status, text, remedy }: DoctorFinding): string {
  const line = `${status.padEnd(5)} ${check.padEnd(20)} ${text}\n`
  return remedy === undefined ? line : `${line}${' '.repeat(27)}-> ${remedy}\n`
}
