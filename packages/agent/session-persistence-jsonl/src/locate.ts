import fs from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '@dsh/core'
import { sessionError } from '@dsh/session'
import { encodeId, rawName, zstdName } from './paths.ts'

/** The log file of a stored session, searched in all project directories; undefined where there is none. */
export function locateLog(root: string, id: string): string | undefined {
  const name = encodeId(id)
  const found = projectDirs(root)
    .map((project) => logIn(join(root, project, name)))
    .filter((path) => path !== undefined)
  if (found.length > 1)
    throw sessionError(
      'SESSION_LOG_CORRUPT',
      `duplicate JSONL session id "${id}" appears in multiple project directories`,
      undefined,
      found.join('\n'),
    )
  if (found.length === 0) refuseFlatFile(root, id, name)
  return found[0]
}

/** The raw log wins where both encodings exist: it is the converted, longer one. */
export function logIn(dir: string): string | undefined {
  return [join(dir, rawName), join(dir, zstdName)].find((path) => fs.existsSync(path))
}

export function projectDirs(root: string): string[] {
  try {
    return fs
      .readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

function refuseFlatFile(root: string, id: string, name: string): void {
  for (const ending of ['.jsonl', '.jsonl.zstd']) {
    const path = join(root, `${name}${ending}`)
    if (fs.existsSync(path))
      throw sessionError(
        'SESSION_LOG_CORRUPT',
        `session "${id}" uses the unsupported flat-file layout; move ${path} into its own directory`,
      )
  }
}
