const brand = Symbol.for('dsh.error')

export interface DshErrorOptions {
  cause?: unknown
  /** The next step for whoever reads it; shown after the message, on its own line. */
  hint?: string
  /** The class name that a log carries beside the code: `FsError`, `SearchError`, … */
  name?: string
}

/**
 * Any failure that callers switch on. Codes live in one table per seam (`src/errors.ts`).
 * Packages may be loaded twice, so test with `isDshError`, never with `instanceof`.
 */
export class DshError extends Error {
  readonly code: string
  readonly hint: string | undefined
  constructor(code: string, message: string, options: DshErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = options.name ?? 'DshError'
    this.code = code
    this.hint = options.hint
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isDshError(error: unknown): error is DshError {
  return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[brand] === true
}

/** The code of a `DshError` or of a Node system error (`ENOENT`); undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** `errorText`, then the next step where one is known. */
export function errorAdvice(error: unknown): string {
  const hint = isDshError(error) ? error.hint : undefined
  return hint === undefined ? errorText(error) : `${errorText(error)}. ${hint}`
}

/** One line: the message, then the messages of its causes. Never a stack. */
export function errorText(error: unknown): string {
  const parts: string[] = []
  let current: unknown = error
  while (current !== undefined && current !== null && parts.length < 8) {
    const text = current instanceof Error ? current.message : typeof current === 'string' ? current : String(current)
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text)
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join(': ') || 'unknown error'
}
