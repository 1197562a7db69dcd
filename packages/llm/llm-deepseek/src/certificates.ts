import { readFileSync } from 'node:fs'
import { DshError, errorText } from '@dsh/core'

/**
 * The built-in certificates and those of the given PEM files; undefined when there are none to add. A file that config
 * names has to be there; one of the environment (`$SSL_CERT_FILE`) is passed over with a warning.
 */
export async function trustedCertificates(
  configured: string | undefined,
  inherited: string | undefined,
  warn: (text: string) => void,
): Promise<string[] | undefined> {
  const added: string[] = []
  if (configured !== undefined) {
    try {
      added.push(readFileSync(configured, 'utf8'))
    } catch (error) {
      throw new DshError('INVALID_CONFIG', `llm-deepseek: caFile cannot be read: ${errorText(error)}`, { cause: error })
    }
  }
  if (inherited !== undefined && inherited !== '') {
    try {
      added.push(readFileSync(inherited, 'utf8'))
    } catch (error) {
      warn(`llm-deepseek: SSL_CERT_FILE cannot be read: ${errorText(error)}`)
    }
  }
  if (added.length === 0) return undefined
  const { rootCertificates } = await import('node:tls')
  return [...rootCertificates, ...added]
}
