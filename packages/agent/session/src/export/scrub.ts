/** Shapes of secrets that need no context to be recognised. */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}/g,
]
/** A name that says what follows: only the value goes. */
const named =
  /((?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization)["']?\s*(?:[=:]|=>)\s*(?:bearer\s+|basic\s+)?)("[^"\n]{6,}"|'[^'\n]{6,}'|[^\s"'`,;<>{}()$][^\s"'`,;<>{}()]{5,}(?![\w(]))/gi
const bearer = /(\bbearer\s+)([A-Za-z0-9._~+/=-]{12,})/gi
const userinfo = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/@]+)(@)/gi
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL/i

export const redacted = '[redacted]'

export type Scrub = (text: string) => string

/**
 * Takes secrets out of a text that is about to be shared: what looks like one, and every value that this process'
 * environment (or the caller) holds under a name that says so. A net, not a proof: read before you share.
 */
export function makeScrub(env: Readonly<Record<string, string | undefined>>, also: readonly string[] = []): Scrub {
  const values = Object.entries(env)
    .filter(([name, value]) => secretName.test(name) && value !== undefined && value.length >= 8)
    .map(([, value]) => value as string)
  const known = [...new Set([...values, ...also.filter((value) => value.length >= 8)])].sort(
    (a, b) => b.length - a.length,
  )
  return (text) => {
    let clean = text
    for (const value of known) clean = clean.replaceAll(value, redacted)
    for (const shape of shapes) clean = clean.replace(shape, redacted)
    return clean
      .replace(
        named,
        (_all, before: string, value: string) =>
          before + (/^["']/.test(value) ? value[0] + redacted + value[0] : redacted),
      )
      .replace(bearer, (_all, before: string) => `${before}${redacted}`)
      .replace(userinfo, (_all, before: string, _secret: string, at: string) => `${before}${redacted}${at}`)
  }
}

/** Every string of a JSON value, keys left alone. */
export function scrubJson(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map((item) => scrubJson(item, scrub))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubJson(item, scrub)]))
}
