import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import * as z from 'zod'
import { createMeter } from './meter.ts'
import type { TokenMeter } from './types.ts'

export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    tokenMeter: TokenMeter
  }
}

export const name = 'token-meter'

const dollars = () => z.number().min(0)
const hour = () => z.int().min(0).max(24)
const price = () =>
  z.strictObject({
    /** Absent: of this model on any provider. */
    provider: z.string().min(1).optional(),
    model: z.string().min(1),
    asOf: z.iso.date(),
    input: dollars(),
    cacheRead: dollars().optional(),
    cacheWrite: dollars().optional(),
    output: dollars(),
    peak: z
      .strictObject({ hours: z.array(z.tuple([hour(), hour()])).min(1), factor: z.number().positive() })
      .optional(),
  })

/** Dollars per million tokens. A model that is not here has unknown costs; it is never taken as free. */
const knownPrices: z.infer<ReturnType<typeof price>>[] = [
  {
    provider: 'deepseek-official',
    model: 'deepseek-v4-flash',
    asOf: '2026-08-16',
    input: 0.22,
    cacheRead: 0.007,
    output: 0.66,
    peak: {
      hours: [
        [1, 4],
        [6, 10],
      ],
      factor: 2,
    },
  },
]

export const Config = lazySchema(() => z.strictObject({ prices: z.array(price()).default(knownPrices) }))
export type Config = z.infer<typeof Config>

export async function apply(ctx: Context, config: Config): Promise<void> {
  ctx.provide('tokenMeter', createMeter(config.prices))
}
