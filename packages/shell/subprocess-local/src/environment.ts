/** Names that look like secrets, and everything that belongs to the harness itself. */
const secret = /KEY|PASSWORD|SECRET|TOKEN|PASSPHRASE|CREDENTIAL/i
const own = /^DSH_/i

/**
 * Names that match the pattern above and carry no secret. Closed: an exception is added here, by its exact name, or
 * not at all. Published in this package's README.
 */
export const harmless: ReadonlySet<string> = new Set([
  'KEYMAP',
  'KEYTIMEOUT',
  'TOKENIZERS_PARALLELISM',
  ...Array.from({ length: 10 }, (_, n) => `GIT_CONFIG_KEY_${n}`),
])

/** Splits the parent's environment into what a child may see and the names it may not. */
export function scrub(parent: NodeJS.ProcessEnv): {
  readonly env: { readonly [name: string]: string }
  readonly removed: readonly string[]
} {
  const env: { [name: string]: string } = {}
  const removed: string[] = []
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue
    if (own.test(name) || (secret.test(name) && !harmless.has(name))) removed.push(name)
    else env[name] = value
  }
  return { env, removed: removed.sort() }
}
