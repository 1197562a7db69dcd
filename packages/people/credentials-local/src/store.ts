import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, withFileLock, writeAtomic } from '@dsh/core'
import { credentialsError } from './errors.ts'
import { type CredentialsDocument, emptyDocument } from './names.ts'

const LOCK_WAIT_MS = 30_000

/** Loaded when there is a file to parse: most runs have none. */
const yaml = () => import('./document.ts')

/** The file on disk: every read is a fresh one, every write keeps comments, is locked, atomic and private. */
export class CredentialsStore {
  readonly file: string
  constructor(file: string) {
    this.file = file
  }

  async read(): Promise<CredentialsDocument> {
    const text = await this.text()
    return text === undefined ? emptyDocument : (await yaml()).parseCredentials(text, this.file)
  }

  /** At start: refuses a file that others can read, and moves the oldest layout to the current one. */
  async open(): Promise<void> {
    const text = await this.text()
    if (text === undefined) return
    await this.refuseExposed()
    const { legacyReferences, parseCredentials } = await yaml()
    const legacy = legacyReferences(text)
    if (legacy === undefined) parseCredentials(text, this.file)
    else await this.migrate()
  }

  async put(section: 'refs' | 'records', key: string, value: unknown): Promise<void> {
    const { edited, parseCredentials } = await yaml()
    await this.locked(async () => {
      const text = (await this.text()) ?? ''
      parseCredentials(text, this.file)
      await this.write(edited(text, section, key, value))
    })
  }

  private async migrate(): Promise<void> {
    const { documentOf, legacyReferences } = await yaml()
    await this.locked(async () => {
      const legacy = legacyReferences((await this.text()) ?? '')
      if (legacy !== undefined) await this.write(documentOf(legacy))
    })
  }

  private async write(text: string): Promise<void> {
    await writeAtomic(this.file, text, { mode: 0o600, dirMode: 0o700 })
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
