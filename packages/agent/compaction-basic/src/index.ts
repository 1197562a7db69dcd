import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import { LlmCode } from '@dsh/llm'
import * as z from 'zod'
import { createCompactor } from './compactor.ts'
import { compactIdle } from './manual.ts'
import { createRelief } from './relief.ts'
import type { Compaction } from './types.ts'

export { CompactionCode } from './errors.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    compaction: Compaction
  }
}

export const name = 'compaction-basic'
export const inject = ['llm', 'tokenMeter', 'sessions']

const ratio = () => z.number().gt(0).lt(1)
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** Share of the context window from which history is made smaller. */
      thresholdRatio: ratio().default(0.8),
      /** Share of the window that stays as it is, counted from the newest message. */
      retainRatio: ratio().default(0.16),
      retainTokens: z.int().min(0).optional(),
      /** Output tokens of a summary. */
      maxTokens: z.int().positive().default(8192),
      compactionRetries: z.int().min(0).default(1),
      /** Summaries per step after the provider refused a request as too long. */
      maxOverflowRetries: z.int().min(0).default(1),
      /** Off: only `/compact` compacts. */
      auto: z.boolean().default(true),
    })
    .refine((config) => config.retainRatio < config.thresholdRatio, {
      error: 'retainRatio must be smaller than thresholdRatio',
    }),
)
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  const { llm, tokenMeter: meter } = ctx
  const compact = createCompactor({ llm, meter, maxTokens: config.maxTokens, retries: config.compactionRetries })
  ctx.provide('compaction', {
    compact: (agent, request = {}) => compactIdle(compact, agent, request, ctx.get('sessionPersistence')?.flush),
  })
  if (!config.auto) return

  const relief = createRelief({
    compact,
    meter,
    pruner: () => ctx.get('toolResultPruner'),
    warn: (why) => ctx.logger.warn(`history was not compacted: ${why}`),
    thresholdRatio: config.thresholdRatio,
    retainTokens: (window) => config.retainTokens ?? Math.floor(window * config.retainRatio),
    maxOverflowRetries: config.maxOverflowRetries,
  })
  ctx.on('agent/pre-step', async (input, next) => {
    await relief.underPressure(input)
    return next()
  })
  ctx.on('agent/request-error', async (input, next) => {
    if (input.failure.code !== LlmCode.CONTEXT_WINDOW_EXCEEDED) return next()
    return (await relief.afterOverflow(input)) ? { kind: 'retry' } : next()
  })
}
