import { errorText } from '@dsh/core'
import { listSessions, type RepairReport, repairLog, verifyLog } from '@dsh/session-persistence-jsonl'
import { UsageError } from '../../argv.ts'
import { pickId } from './pick.ts'
import { parseWords, printJson, sessionsRoot } from './words.ts'

export async function verify(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {})
  const root = sessionsRoot()
  const ids =
    positionals.length > 0
      ? await Promise.all(positionals.map((word) => pickId(root, word)))
      : (await listSessions(root)).map(({ header }) => header.id)
  const reports = []
  for (const id of ids) {
    const report = await verifyLog(root, id)
    reports.push(report)
    if (values.json) continue
    const state =
      report.problems.length === 0
        ? `holds, ${count(report.events, 'event')}, ${count(report.digests, 'digest')}`
        : 'damaged'
    process.stdout.write(`${[`${id}: ${state}`, ...report.problems.map((problem) => `  ${problem}`)].join('\n')}\n`)
  }
  if (values.json) printJson(reports)
  return reports.every(({ problems }) => problems.length === 0) ? 0 : 1
}

export async function repair(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, { 'drop-unknown': { type: 'boolean' } })
  if (positionals.length === 0) throw new UsageError('error: sessions repair needs the id of a session')
  const root = sessionsRoot()
  const results: (RepairReport | { id: string; problem: string })[] = []
  for (const word of positionals) {
    try {
      const id = await pickId(root, word)
      results.push(await repairLog(root, id, { dropUnknown: values['drop-unknown'] === true }))
    } catch (error) {
      results.push({ id: word, problem: errorText(error) })
    }
  }
  if (values.json) printJson(results)
  else
    for (const result of results)
      ('problem' in result ? process.stderr : process.stdout).write(`${reportText(result)}\n`)
  return results.every((result) => !('problem' in result)) ? 0 : 1
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

function reportText(result: RepairReport | { id: string; problem: string }): string {
  if ('problem' in result) return `${result.id}: not repaired: ${result.problem}`
  if (result.notes.length === 0) return `${result.id}: nothing to repair`
  const backup = result.backup === undefined ? [] : [`  the damaged log is kept at ${result.backup}`]
  return [
    `${result.id}: ${count(result.events, 'event')} kept`,
    ...result.notes.map((note) => `  ${note}`),
    ...backup,
  ].join('\n')
}
