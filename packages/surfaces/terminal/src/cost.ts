import type { SessionUsage } from '@dsh/token-meter'

/** `/cost`, a fact per line. */
export function costLines(usage: SessionUsage): string[] {
  const count = (value: number) => value.toLocaleString('en-US')
  return [
    `${usage.calls} model ${usage.calls === 1 ? 'call' : 'calls'} · ${count(usage.inputTokens)} tokens in, ${count(usage.cacheReadTokens)} from the cache · ${count(usage.outputTokens)} out`,
    ...(usage.cacheHitRatio === undefined ? [] : [`cache hits: ${Math.round(usage.cacheHitRatio * 100)}%`]),
    usage.costKnown
      ? `cost: $${usage.costUsd.toFixed(4)}`
      : `cost: at least $${usage.costUsd.toFixed(4)}; a model here has no price in the table`,
  ]
}
