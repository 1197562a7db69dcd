import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  claimDirectory,
  fixtureLog,
  inputOfLog,
  machineRules,
  moreRowsOf,
  pinsOf,
  pinTexts,
  recordableTree,
  type Transcript,
  writeTree,
} from '@dsh/replay'

const maxWorkspaceBytes = 20_000_000

/**
 * A stored session as a fixture: its log, what the person did, what the model was told, and the files it started with
 * where the caller has them. `doubts` = what a person did at a moment that the log does not hold. The files it ended with are nobody's to know: the first `dsh replay --update` writes them.
 */
export async function exportFixture(
  log: { readonly header: unknown; readonly events: readonly unknown[] },
  options: { readonly fixture?: string; readonly workspace?: string },
): Promise<{ readonly fixture: string; readonly workspace: boolean; readonly doubts: readonly string[] }> {
  const dir = path.resolve(options.fixture as string)
  const transcript = standalone(log as Transcript)
  const workspace = options.workspace === undefined ? undefined : path.resolve(options.workspace)
  const tree = workspace === undefined ? undefined : await recordableTree(workspace, maxWorkspaceBytes)
  await claimDirectory(dir)
  const cwd = transcript.header['cwd']
  const text = fixtureLog(transcript, { cwd: typeof cwd === 'string' ? [cwd] : [] })
  await writeFile(path.join(dir, 'session.jsonl'), text)
  for (const [name, pin] of pinTexts(pinsOf(transcript, 'all'), 'all')) {
    await writeFile(path.join(dir, name), typeof cwd === 'string' ? pin.replaceAll(cwd, '{{cwd}}') : pin)
  }
  const { steps, permissionAnswers, doubts } = inputOfLog(transcript)
  const normalise = machineRules([transcript])
  const input = {
    steps,
    ...(permissionAnswers.length === 0 ? {} : { permissionAnswers }),
    ...(normalise.length === 0 ? {} : { normalise }),
  }
  await writeFile(path.join(dir, 'input.json'), `${JSON.stringify(input, null, 2)}\n`)
  const rows = moreRowsOf(transcript)
  if (rows.length > 0) await writeFile(path.join(dir, 'patch.yml'), `- insert: ${JSON.stringify(rows)}\n`)
  if (tree !== undefined) await writeTree(path.join(dir, 'workspace'), tree)
  return { fixture: dir, workspace: tree !== undefined, doubts }
}

/** A copy of another session as a session that has all of it behind itself: the other one does not come along. */
function standalone({ header: { parentSession, seedLength, ...header }, events }: Transcript): Transcript {
  return { header, events }
}
