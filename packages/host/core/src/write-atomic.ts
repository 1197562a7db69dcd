import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeDirectory } from './make-directory.ts'

export interface WriteAtomicOptions {
  /** Permission bits of the new file. */
  readonly mode: number
  /** Permission bits of the directory, where it has to be made. */
  readonly dirMode?: number
}

/** Replaces a file as a whole: a reader sees the old content or the new, also after a crash. */
export async function writeAtomic(file: string, text: string, options: WriteAtomicOptions): Promise<void> {
  const dir = dirname(file)
  await makeDirectory(dir, options.dirMode)
  const temporary = join(dir, `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx', options.mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
