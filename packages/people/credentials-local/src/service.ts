import { credentialsError } from './errors.ts'
import { type CredentialsDocument, checkRecordKey, checkReference, checkSecret, emptyDocument } from './names.ts'
import type { CredentialsStore } from './store.ts'
import type { CredentialSource, Credentials } from './types.ts'

export interface ServiceOptions {
  /** Undefined: the environment is the only source. */
  readonly store: CredentialsStore | undefined
  /** A non-empty value of one environment layer. */
  readonly environment: (name: string, source: 'process' | 'project-env' | 'user-env') => string | undefined
  readonly warn: (error: unknown) => void
  readonly onReference: (reference: string) => void
  readonly onRecord: (key: string) => void
}

/** Inherited environment, then the file, then the `.env` files: resolved at every use. */
export function createCredentials(options: ServiceOptions): Credentials {
  const { store, environment, warn } = options
  let lastGood: CredentialsDocument = emptyDocument

  async function document(): Promise<CredentialsDocument> {
    if (store === undefined) return emptyDocument
    try {
      lastGood = await store.read()
    } catch (error) {
      warn(error)
    }
    return lastGood
  }

  async function find(reference: string): Promise<{ source: CredentialSource; secret: string } | undefined> {
    checkReference(reference)
    const inherited = environment(reference, 'process')
    if (inherited !== undefined) return { source: 'env', secret: inherited }
    const stored = (await document()).refs.get(reference)
    if (stored !== undefined) return { source: 'file', secret: stored }
    for (const source of ['project-env', 'user-env'] as const) {
      const secret = environment(reference, source)
      if (secret !== undefined) return { source, secret }
    }
    return undefined
  }

  function writable(): CredentialsStore {
    if (store !== undefined) return store
    throw credentialsError('CREDENTIALS_NO_FILE', 'this composition keeps no credentials file')
  }

  async function change(verb: 'set' | 'unset', reference: string, secret: string | undefined): Promise<void> {
    checkReference(reference)
    if (environment(reference, 'process') !== undefined) {
      throw credentialsError(
        'CREDENTIALS_SHADOWED',
        `"${reference}" is supplied read-only by the launching environment, so ${verb} would be shadowed; unset it in the shell you start dsh from instead`,
      )
    }
    if (secret !== undefined) checkSecret(reference, secret)
    await writable().put('refs', reference, secret)
    options.onReference(reference)
  }

  async function changeRecord(key: string, record: unknown): Promise<void> {
    checkRecordKey(key)
    await writable().put('records', key, record)
    options.onRecord(key)
  }

  return {
    resolve: async (reference) => (await find(reference))?.secret,
    describe: async (reference) => {
      const found = await find(reference)
      if (found === undefined) return { configured: false, writable: store !== undefined }
      return { configured: true, source: found.source, writable: store !== undefined && found.source !== 'env' }
    },
    set: (reference, secret) => change('set', reference, secret),
    unset: (reference) => change('unset', reference, undefined),
    record: async (key) => {
      checkRecordKey(key)
      return (await document()).records.get(key)
    },
    setRecord: (key, record) => changeRecord(key, record),
    unsetRecord: (key) => changeRecord(key, undefined),
  }
}
