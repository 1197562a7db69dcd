/** Consecutive identical calls of one agent. */
export interface Chain {
  readonly key: string
  readonly count: number
}

export function nextLink(chain: Chain | undefined, key: string): Chain {
  return { key, count: chain?.key === key ? chain.count + 1 : 1 }
}

/** Equal for calls of one tool whose arguments say the same, whatever the order of their keys. */
export function callKey(tool: string, args: unknown): string {
  return `${tool} ${JSON.stringify(sorted(args))}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
