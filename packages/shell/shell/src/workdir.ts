import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { errorCode } from '@dsh/core'
import { workdirMissing, workdirNotADirectory } from './errors.ts'

/** The directory a command starts in, checked here: a spawn error would blame the program instead. */
export function resolveWorkdir(workdir: string | undefined, base: string): string {
  const path = workdir === undefined ? base : isAbsolute(workdir) ? workdir : resolve(base, workdir)
  try {
    if (!statSync(path).isDirectory()) throw workdirNotADirectory(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw workdirMissing(path, error)
    if (errorCode(error) === 'ENOTDIR') throw workdirNotADirectory(path, error)
    throw error
  }
  return path
}
