import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseTranscript, type Transcript } from './transcript.ts'

/** Every log below the sessions directory, parents before children, older before younger. */
export async function sessionLogs(root: string): Promise<Transcript[]> {
  const logs = await Promise.all((await logFiles(root)).map(readTranscript))
  const order = (log: Transcript) => [Number(log.header['createdAt'] ?? 0), String(log.header['id'])] as const
  return logs.sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1].localeCompare(order(b)[1]))
}

/**
 * Leaves the first `count` events of a session. How much of a killed process reached the disk is chance: the run goes on
 * from where the recording did. A log that is shorter stays as it is, and shows as that.
 */
export async function cutLog(root: string, sessionId: string | undefined, count: number): Promise<void> {
  for (const file of await logFiles(root)) {
    const log = await readTranscript(file)
    if (log.header['id'] !== sessionId || log.events.length <= count) continue
    const rows = [log.header, ...log.events.slice(0, count)]
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

async function logFiles(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => [] as string[])
  return names.filter((name) => path.basename(name) === 'session.jsonl').map((name) => path.join(root, name))
}

async function readTranscript(file: string): Promise<Transcript> {
  return parseTranscript(await readFile(file, 'utf8'))
}
