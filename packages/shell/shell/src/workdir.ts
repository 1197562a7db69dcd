import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { errorCode } from '@dsh/core'
import { workdirMissing, workdirNotADirectory } from './errors.ts'

/** The directory a command starts in, checked here: a spawn error would blame the program instead. */
export async function resolveWorkdir(workdir: string | undefined, base: string): Promise<string> {
  const path = workdir === undefined ? base : isAbsolute(workdir) ? workdir : resolve(base, workdir)
  try {
    if (!(await stat(path)).isDirectory()) throw workdirNotADirectory(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw workdirMissing(path, error)
    if (errorCode(error) === 'ENOTDIR') throw workdirNotADirectory(path, error)
    throw error
  }
  return path
}
