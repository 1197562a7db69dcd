import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { pruneMarker } from './prune-text.ts'
import { createPruner } from './pruner.ts'
import type { ToolResultPruner } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    toolResultPruner: ToolResultPruner
  }
}

export const name = 'tool-result-pruner'
export const inject = ['tokenMeter']

export const Config = lazySchema(() =>
  z
    .strictObject({
      thresholdChars: z.int().positive().default(8192),
      headChars: z.int().min(0).default(4096),
      tailChars: z.int().min(0).default(1024),
      keepErrorLines: z.boolean().default(true),
    })
    .refine((config) => config.headChars + pruneMarker.length + config.tailChars <= config.thresholdChars, {
      error: 'headChars, the marker and tailChars together must not be longer than thresholdChars',
    }),
)
export type Config = z.infer<typeof Config>

/** Decides nothing by itself: compaction asks for it under pressure. */
export async function apply(ctx: Context, config: Config): Promise<void> {
  ctx.provide('toolResultPruner', createPruner(config, ctx.tokenMeter))
}
