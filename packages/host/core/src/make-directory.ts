import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

type Mkdir = (path: string, options: { mode?: number }) => Promise<unknown>

/**
 * A directory and those above it. Node's own `recursive` never returns where a directory exists that answers ENOENT to
 * everything made in it, as `/proc` does.
 */
export async function makeDirectory(path: string, mode?: number, make: Mkdir = mkdir): Promise<void> {
  const options = mode === undefined ? {} : { mode }
  try {
    await make(path, options)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && dirname(path) !== path) {
      await makeDirectory(dirname(path), mode, make)
      await make(path, options).catch((again: unknown) => keepUnlessDirectory(path, again))
    } else await keepUnlessDirectory(path, error)
  }
}

/** The same, at once. */
export function makeDirectorySync(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    makeDirectorySync(dirname(path))
    mkdirSync(path)
  }
}

/** Whatever kept it from being made, it is there. */
async function keepUnlessDirectory(path: string, error: unknown): Promise<void> {
  const there = await stat(path).catch(() => undefined)
  if (!there?.isDirectory()) throw error
}
