import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, withFileLock, writeAtomic } from '@dsh/core'
import { Document, parseDocument } from 'yaml'
import { type CredentialsDocument, emptyDocument, legacyReferences, parseCredentials } from './document.ts'
import { credentialsError } from './errors.ts'

const LOCK_WAIT_MS = 30_000

/** The file on disk: every read is a fresh one, every write keeps comments, is locked, atomic and private. */
export class CredentialsStore {
  readonly file: string
  constructor(file: string) {
    this.file = file
  }

  async read(): Promise<CredentialsDocument> {
    const text = await this.text()
    return text === undefined ? emptyDocument : parseCredentials(text, this.file)
  }

  /** At start: refuses a file that others can read, and moves the oldest layout to the current one. */
  async open(): Promise<void> {
    const text = await this.text()
    if (text === undefined) return
    await this.refuseExposed()
    const legacy = legacyReferences(text)
    if (legacy === undefined) parseCredentials(text, this.file)
    else await this.migrate()
  }

  async put(section: 'refs' | 'records', key: string, value: unknown): Promise<void> {
    await this.edit((document) => {
      if (value === undefined) document.deleteIn([section, key])
      else document.setIn([section, key], value)
    })
  }

  private async migrate(): Promise<void> {
    await this.locked(async () => {
      const legacy = legacyReferences((await this.text()) ?? '')
      if (legacy === undefined) return
      await this.write(new Document({ version: 1, refs: Object.fromEntries(legacy) }))
    })
  }

  private async edit(change: (document: Document) => void): Promise<void> {
    await this.locked(async () => {
      const text = (await this.text()) ?? ''
      parseCredentials(text, this.file)
      const document = parseDocument(text, { stringKeys: true }) as unknown as Document
      if (document.contents === null || document.get('version') === undefined) document.set('version', 1)
      change(document)
      await this.write(document)
    })
  }

  private async write(document: Document): Promise<void> {
    await writeAtomic(this.file, document.toString({ lineWidth: 0 }), { mode: 0o600, dirMode: 0o700 })
  }

  private async locked(work: () => Promise<void>): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true, mode: 0o700 })
    await withFileLock(this.file, { waitMs: LOCK_WAIT_MS }, work)
  }

  private async refuseExposed(): Promise<void> {
    if (process.platform === 'win32') return
    const mode = (await stat(this.file)).mode & 0o777
    if ((mode & 0o077) === 0) return
    throw credentialsError(
      'CREDENTIALS_EXPOSED',
      `${this.file} is readable beyond its owner (mode ${mode.toString(8)}); run "chmod 600 ${this.file}" before starting again`,
    )
  }

  private async text(): Promise<string | undefined> {
    try {
      return await readFile(this.file, 'utf8')
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw credentialsError('CREDENTIALS_INVALID', `cannot read ${this.file}: ${errorCode(error) ?? 'unknown fault'}`)
    }
  }
}
