import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { errorCode } from '@dsh/core'
import { workdirMissing, workdirNotADirectory } from './errors.ts'

/** The directory a command starts in, checked here: a spawn error would blame the program instead. */
export function resolveWorkdir(workdir: string | undefined, base: string): string {
  const path = workdir === undefined ? base : isAbsolute(workdir) ? workdir : resolve(base, workdir)
  // No file system has such a name, and Node throws an error of its own at it.
  if (path.includes('\0')) throw workdirMissing(path.replaceAll('\0', '\\0'))
  try {
    if (!statSync(path).isDirectory()) throw workdirNotADirectory(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw workdirMissing(path, error)
    if (errorCode(error) === 'ENOTDIR') throw workdirNotADirectory(path, error)
    throw error
  }
  return path
}
