import type { TokenUsage } from '@dsh/llm'
import type { ModelPrice } from './types.ts'

/** The price of a model; an entry that names the provider goes before one that does not. */
export function priceOf(prices: readonly ModelPrice[], provider: string, model: string): ModelPrice | undefined {
  const named = prices.filter((price) => price.model === model)
  return named.find((price) => price.provider === provider) ?? named.find((price) => price.provider === undefined)
}

/** Dollars for one call made at `time` (epoch milliseconds). */
export function costOf(price: ModelPrice, usage: TokenUsage, time: number): number {
  const million =
    usage.inputTokens * price.input +
    (usage.cacheReadTokens ?? 0) * (price.cacheRead ?? price.input) +
    (usage.cacheWriteTokens ?? 0) * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output
  return (million / 1_000_000) * peakFactor(price, time)
}

function peakFactor({ peak }: ModelPrice, time: number): number {
  if (peak === undefined) return 1
  const hour = new Date(time).getUTCHours()
  return peak.hours.some(([from, to]) => hour >= from && hour < to) ? peak.factor : 1
}
