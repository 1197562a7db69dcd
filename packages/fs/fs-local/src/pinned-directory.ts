import { constants } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '@dsh/core'
import type { Syscalls } from './syscalls.ts'

export interface PinnedDirectory {
  /** A path that leads to this entry of the directory, whatever happens to the names above it. */
  at(name: string): string
  /** Where the directory is right now. */
  place(): Promise<string>
  sync(): Promise<void>
  close(): Promise<void>
}

const directory = constants.O_DIRECTORY | constants.O_NOFOLLOW
/** `O_PATH`, which Node does not name. */
const pathOnly = 0o10000000

/**
 * Holds a directory open, so that what follows happens in it and not in whatever takes its name meanwhile: a link put there
 * between a check and the next call would lead out of the workspace. Linux reaches the entries through the descriptor; elsewhere the
 * name has to do.
 */
export async function pinDirectory(path: string, io: Syscalls): Promise<PinnedDirectory> {
  const handle = await io.open(path, constants.O_RDONLY | directory).catch((error: unknown) => {
    // A directory that may be written to but not listed.
    if (errorCode(error) === 'EACCES' && process.platform === 'linux') return io.open(path, pathOnly | directory)
    throw error
  })
  const descriptor = `/proc/self/fd/${handle.fd}`
  const place = process.platform === 'linux' ? await io.readlink(descriptor).catch(() => undefined) : undefined
  return {
    at: (name) => join(place === undefined ? path : descriptor, name),
    place: () => (place === undefined ? io.realpath(path) : io.readlink(descriptor)),
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}
