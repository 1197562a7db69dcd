export type ExpressionKind = 'js' | 'env' | 'home'

/**
 * A value that is computed when its row starts: `!!js <source>`, `!env NAME`, `!home path`.
 * Immutable, and a leaf for every walk over configuration.
 */
export class Expression {
  readonly kind: ExpressionKind
  readonly source: string
  /** `file:line` of the tag, for messages. */
  readonly at: string | undefined
  constructor(kind: ExpressionKind, source: string, at?: string) {
    this.kind = kind
    this.source = source
    this.at = at
    Object.freeze(this)
  }

  get tag(): string {
    return this.kind === 'js' ? '!!js' : `!${this.kind}`
  }

  toJSON(): unknown {
    return { [this.tag]: this.source }
  }
}

export function isExpression(value: unknown): value is Expression {
  return value instanceof Expression
}
