import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checksums } from './checksums.ts'

/** Beside the sources, and beside a bundle of them. */
const places = ['../bin/', './assets/landlock-run/', '../assets/landlock-run/']

export interface Launcher {
  readonly path: string
  readonly bytes: Uint8Array
}

/** The launcher for this machine, if it is the file that this version was built with. */
export function findLauncher(arch: string = process.arch, from: string = import.meta.url): Launcher | undefined {
  const expected = checksums[arch]
  if (process.platform !== 'linux' || expected === undefined) return undefined
  for (const place of places) {
    const path = fileURLToPath(new URL(`${place}landlock-run-linux-${arch}`, from))
    const bytes = read(path)
    if (bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === expected) return { path, bytes }
  }
  return undefined
}

function read(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
