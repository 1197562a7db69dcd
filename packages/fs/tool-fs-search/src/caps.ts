import { lazySchema } from '@dsh/core'
import * as z from 'zod'

const positive = (key: string, value: number) =>
  z
    .number()
    .refine((given) => Number.isSafeInteger(given) && given > 0, `tool-fs-search: ${key} must be a positive integer`)
    .default(value)

export const Config = lazySchema(() =>
  z.strictObject({
    /** A glob page over the cap: sampled across top-level entries instead of the first in order. */
    sampleOverCapGlobResults: z.boolean(),
    globMaxResults: positive('globMaxResults', 100),
    grepMaxMatches: positive('grepMaxMatches', 250),
    /** Bytes of one shown line. */
    grepMaxLineBytes: positive('grepMaxLineBytes', 2000),
    /** Bytes of matches on the page; more are in the saved list. Below the size at which results are spilled. */
    grepMaxInlineBytes: positive('grepMaxInlineBytes', 48_000),
    /** JSON bytes of the facts for surfaces. */
    searchMetaMaxBytes: positive('searchMetaMaxBytes', 65_536),
    rawOutputMaxBytes: positive('rawOutputMaxBytes', 20_000_000),
    stderrMaxBytes: positive('stderrMaxBytes', 65_536),
    graceMs: positive('graceMs', 3000).refine(
      (given) => given <= 2_147_483_647,
      'tool-fs-search: graceMs must be no greater than 2147483647',
    ),
    /** What was found by then is returned, with a note. */
    softDeadlineMs: positive('softDeadlineMs', 25_000),
    timeoutMs: positive('timeoutMs', 30_000),
  }),
)
export type Config = z.infer<typeof Config>
