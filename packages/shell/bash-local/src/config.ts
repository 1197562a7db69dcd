import { lazySchema } from '@dsh/core'
import * as z from 'zod'

const maxGraceMs = 2_147_483_647

/** The knobs of any bash executor; `row` names the offender in a message. */
export function shellConfig(row: string) {
  const amount = (field: string, fallback: number) =>
    z
      .custom<number>((value) => typeof value === 'number' && Number.isFinite(value) && value > 0, {
        error: `${row}: ${field} must be a positive finite number`,
      })
      .default(fallback)
  return lazySchema(() =>
    z
      .strictObject({
        /** Default time limit of a foreground command. */
        timeoutMs: amount('timeoutMs', 120_000),
        /** A longer limit than this is cut to it. */
        maxTimeoutMs: amount('maxTimeoutMs', 600_000),
        /** Bytes of each stream kept in memory: its tail. */
        maxOutputBytes: amount('maxOutputBytes', 64_000),
        /** A capture file larger than this is not kept. */
        maxSpillBytes: amount('maxSpillBytes', 67_108_864),
        /** From TERM to KILL. */
        graceMs: amount('graceMs', 3_000).refine((value) => value <= maxGraceMs, {
          error: `${row}: graceMs must be no greater than ${maxGraceMs}`,
        }),
        /** Where commands start when neither the call nor the session says. */
        cwd: z.string().optional(),
      })
      .prefault({}),
  )
}

export type ShellConfig = z.output<ReturnType<typeof shellConfig>>
