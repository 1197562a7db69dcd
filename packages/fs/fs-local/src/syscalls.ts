import type { BigIntStats, Dirent } from 'node:fs'
import * as fsp from 'node:fs/promises'

/** The system calls below this backend, in one place, so that a test can make any of them fail. */
export interface Syscalls {
  open(path: string, flags: string | number, mode?: number): Promise<fsp.FileHandle>
  stat(path: string): Promise<BigIntStats>
  lstat(path: string): Promise<BigIntStats>
  realpath(path: string): Promise<string>
  readlink(path: string): Promise<string>
  readdir(path: string): Promise<Dirent[]>
  mkdir(path: string, options: { mode?: number; recursive?: boolean }): Promise<unknown>
  chmod(path: string, mode: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  link(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  rmdir(path: string): Promise<void>
}

export const nodeSyscalls: Syscalls = {
  open: (path, flags, mode) => fsp.open(path, flags, mode),
  stat: (path) => fsp.stat(path, { bigint: true }),
  lstat: (path) => fsp.lstat(path, { bigint: true }),
  realpath: (path) => fsp.realpath(path),
  readlink: (path) => fsp.readlink(path),
  readdir: (path) => fsp.readdir(path, { withFileTypes: true }),
  mkdir: (path, options) => fsp.mkdir(path, options),
  chmod: (path, mode) => fsp.chmod(path, mode),
  rename: (from, to) => fsp.rename(from, to),
  link: (from, to) => fsp.link(from, to),
  unlink: (path) => fsp.unlink(path),
  rmdir: (path) => fsp.rmdir(path),
}
