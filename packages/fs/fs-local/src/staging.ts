import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '@dsh/core'
import { isAlive, type Owner, parseOwner } from './owner.ts'
import type { PinnedDirectory } from './pinned-directory.ts'
import type { Syscalls } from './syscalls.ts'

/** Where a new file is written before it takes its name: a private directory beside the target. */
export interface Staging {
  /** `name` is independent of the target's, which may be 255 bytes long. */
  create(parent: PinnedDirectory, parentPath: string): Promise<{ readonly dir: string; readonly file: string }>
  /** Removes what a killed process left behind. */
  sweep(): void
  close(): void
}

/**
 * `journalDir` lists, per process, the directories in which it staged files; the next start cleans up after the
 * processes that are gone. Without it a killed process leaves its staging directory.
 */
export function createStaging(owner: Owner, journalDir: string | undefined, io: Syscalls): Staging {
  const journal = journalDir === undefined ? undefined : join(journalDir, owner.token)
  const noted = new Set<string>()
  let count = 0

  /** Best effort: without a journal only a kill leaves something behind. */
  function note(parent: string): void {
    if (noted.has(parent)) return
    const first = noted.size === 0
    noted.add(parent)
    if (journal === undefined) return
    try {
      if (first) {
        mkdirSync(dirname(journal), { recursive: true, mode: 0o700 })
        appendFileSync(journal, owner.text, { mode: 0o600 })
      }
      appendFileSync(journal, `${JSON.stringify(parent)}\n`)
    } catch {
      // A home that is full or read-only must not keep a person from changing their files.
    }
  }

  return {
    async create(parent, parentPath) {
      note(parentPath)
      const dir = parent.at(`${stagingPrefix(owner)}${count++}.tmpdir`)
      await io.mkdir(dir, { mode: 0o700 })
      return { dir, file: join(dir, 'data') }
    },
    sweep() {
      if (journalDir === undefined) return
      for (const name of entries(journalDir)) {
        if (name !== owner.token) quietly(() => sweepAfter(join(journalDir, name)))
      }
    },
    close() {
      // What a failing clean-up left; other writers of this process have finished.
      for (const parent of noted) quietly(() => removeStaged(parent, owner))
      if (journal !== undefined && noted.size > 0) quietly(() => rmSync(journal, { force: true }))
    },
  }
}

function stagingPrefix(owner: Owner): string {
  return `.dsh-${owner.token}-`
}

function sweepAfter(journal: string): void {
  let text: string
  try {
    text = readFileSync(journal, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  const owner = parseOwner(text)
  if (owner !== undefined && isAlive(owner)) return
  if (owner !== undefined)
    for (const line of text.split('\n').slice(1)) {
      const parent = parentOf(line)
      if (parent !== undefined) removeStaged(parent, owner)
    }
  rmSync(journal, { force: true })
}

function removeStaged(parent: string, owner: Owner): void {
  for (const name of entries(parent)) {
    if (name.startsWith(stagingPrefix(owner)) && name.endsWith('.tmpdir'))
      rmSync(join(parent, name), { recursive: true, force: true })
  }
}

/** A line that the kill cut short is no directory. */
function parentOf(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Cleaning up is nobody's task at hand: what cannot be removed now is tried again at the next start. */
function quietly(clean: () => void): void {
  try {
    clean()
  } catch {
    // Not ours to remove, or gone.
  }
}

function entries(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    // Gone, or not ours to read: nothing to clean there.
    return []
  }
}
