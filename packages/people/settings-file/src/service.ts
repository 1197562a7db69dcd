import { readFile } from 'node:fs/promises'
import { errorCode, type JsonObject, withFileLock, writeAtomic } from '@dsh/core'
import { settingsError } from './errors.ts'
import { checkNamespace, revisionOf } from './names.ts'
import type { Settings, SettingsOp, SettingsWrite } from './types.ts'

const LOCK_WAIT_MS = 2_000

export interface ServiceOptions {
  readonly file: string
  readonly onSection: (
    namespace: string,
    next: JsonObject | undefined,
    previous: JsonObject | undefined,
    revision: string,
  ) => void
}

/** Loaded at first use: a run that neither reads nor writes settings needs no parser. */
const yaml = () => import('./document.ts')

/** Reads the file at every use; writes are queued, locked, atomic and private. */
export function createSettings({ file, onSection }: ServiceOptions): Settings {
  let queue: Promise<unknown> = Promise.resolve()

  async function edit(namespace: string, ops: readonly SettingsOp[], options: SettingsWrite = {}): Promise<void> {
    checkNamespace(namespace)
    const work = queue.then(() => withFileLock(file, { waitMs: LOCK_WAIT_MS }, () => write(namespace, ops, options)))
    queue = work.catch(() => {})
    await work
  }

  async function write(namespace: string, ops: readonly SettingsOp[], options: SettingsWrite): Promise<void> {
    const text = await readText(file)
    if (options.expectedRevision !== undefined && options.expectedRevision !== revisionOf(text)) {
      throw settingsError('SETTINGS_CONFLICT', `${file} was changed meanwhile; read it again before writing`)
    }
    const { applyOps, parseSettings, sectionOf } = await yaml()
    const document = parseSettings(text, file)
    const previous = sectionOf(document, namespace)
    applyOps(document, namespace, ops)
    const next = document.toString({ lineWidth: 0 })
    if (next === text) return
    await writeAtomic(file, next, { mode: 0o600, dirMode: 0o700 })
    onSection(namespace, sectionOf(document, namespace), previous, revisionOf(next))
  }

  return {
    file,
    revision: async () => revisionOf(await readText(file)),
    section: async (namespace) => {
      checkNamespace(namespace)
      const { parseSettings, sectionOf } = await yaml()
      return sectionOf(parseSettings(await readText(file), file), namespace)
    },
    update: async (namespace, patch, options) => edit(namespace, (await yaml()).mergeOps(patch), options),
    replace: (namespace, section, options) => {
      const op: SettingsOp = section === undefined ? { op: 'unset', path: [] } : { op: 'set', path: [], value: section }
      return edit(namespace, [op], options)
    },
    mutate: (namespace, ops, options) => edit(namespace, ops, options),
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ''
    throw settingsError('SETTINGS_INVALID', `cannot read ${file}: ${errorCode(error) ?? 'unknown fault'}`)
  }
}
