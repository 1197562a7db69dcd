import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { claimDirectory, fixtureLog, pinsOf, pinTexts, recordableTree, type Transcript, writeTree } from '@dsh/replay'

const maxWorkspaceBytes = 20_000_000

/**
 * A stored session as a fixture: its log, what the model was told, and the files it started with where the caller has
 * them. The files it ended with are nobody's to know: the first `dsh replay --update` writes them.
 */
export async function exportFixture(
  log: { readonly header: unknown; readonly events: readonly unknown[] },
  options: { readonly fixture?: string; readonly workspace?: string },
): Promise<{ readonly fixture: string; readonly workspace: boolean }> {
  const dir = path.resolve(options.fixture as string)
  const transcript = log as Transcript
  const workspace = options.workspace === undefined ? undefined : path.resolve(options.workspace)
  const tree = workspace === undefined ? undefined : await recordableTree(workspace, maxWorkspaceBytes)
  await claimDirectory(dir)
  const cwd = transcript.header['cwd']
  const text = fixtureLog(transcript, { cwd: typeof cwd === 'string' ? [cwd] : [] })
  await writeFile(path.join(dir, 'session.jsonl'), text)
  for (const [name, pin] of pinTexts(pinsOf(transcript, 'all'), 'all')) {
    await writeFile(path.join(dir, name), typeof cwd === 'string' ? pin.replaceAll(cwd, '{{cwd}}') : pin)
  }
  if (tree !== undefined) await writeTree(path.join(dir, 'workspace'), tree)
  return { fixture: dir, workspace: tree !== undefined }
}
