import { createHash } from 'node:crypto'
import type { GenerateOptions, LlmCallConfig, Message } from '@dsh/llm'
import type { RequestHeader } from './types.ts'

/**
 * The hash chain over what the model sees: `d0 = SHA-256("dsh-surface-v1")`, `di = SHA-256(d(i-1) ‖ h(mi))` with
 * `h(m) = SHA-256(JSON.stringify(m))`. Logged messages are frozen, so one hash per object is enough for ever.
 */
export const chainStart: Buffer = createHash('sha256').update('dsh-surface-v1').digest()

const hashes = new WeakMap<object, Buffer>()

/** The hash of one message; remembered only for objects that nobody can change. */
export function messageHash(message: Message, frozen = false): Buffer {
  const known = hashes.get(message)
  if (known !== undefined) return known
  const hash = createHash('sha256').update(JSON.stringify(message)).digest()
  if (frozen) hashes.set(message, hash)
  return hash
}

export function chain(previous: Buffer, hash: Buffer): Buffer {
  return createHash('sha256').update(previous).update(hash).digest()
}

/** What a request says apart from its messages, in the log's key order. */
export interface HeaderFacts {
  readonly config: LlmCallConfig
  readonly system?: string
  readonly tools?: readonly unknown[]
}

/** The header facts of a request at the adapter's edge. */
export function headerOf(options: GenerateOptions): HeaderFacts {
  const { provider, model, maxTokens, reasoningEffort, temperature, stop, system, tools } = options
  return { config: { provider, model, maxTokens, reasoningEffort, temperature, stop }, system, tools } as HeaderFacts
}

/** An empty tool list and an absent one ask the provider for the same thing. */
export function headerJson({ config, system, tools }: HeaderFacts): string {
  const { provider, model, maxTokens, reasoningEffort, temperature, stop } = config
  return JSON.stringify([
    provider,
    model,
    maxTokens ?? null,
    reasoningEffort ?? null,
    temperature ?? null,
    stop ?? null,
    system ?? null,
    Array.isArray(tools) && tools.length === 0 ? null : (tools ?? null),
  ])
}

const headerDigests = new WeakMap<object, string>()

/** Hex digest of system, tools and config, provider and effort included. */
export function headerDigest(header: HeaderFacts | RequestHeader, frozen = false): string {
  const known = headerDigests.get(header)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(headerJson(header)).digest('hex')
  if (frozen) headerDigests.set(header, digest)
  return digest
}

export interface RequestDigest {
  readonly count: number
  readonly digest: string
  readonly headerDigest: string
}

/** The digests of a request from its plain parts; equals what the session's chain gives for the same log. */
export function requestDigest(messages: readonly Message[], header: HeaderFacts | RequestHeader): RequestDigest {
  let digest = chainStart
  for (const message of messages) digest = chain(digest, messageHash(message))
  return { count: messages.length, digest: digest.toString('hex'), headerDigest: headerDigest(header) }
}
