import path from 'node:path'
import { retryPolicySchema } from '@dsh/llm'
import * as z from 'zod'

const effort = z.union([z.string().min(1), z.strictObject({ id: z.string().min(1), name: z.string().min(1) })])
const model = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1).optional(),
  description: z.string().optional(),
  contextWindow: z.int().positive().optional(),
  inputModalities: z.array(z.string()).optional(),
  defaultMaxTokens: z.int().positive().optional(),
  reasoningEfforts: z.array(effort).optional(),
  defaultReasoningEffort: z.string().optional(),
})

export const Config = z.strictObject({
  /** The primary log. Default: `$DSH_SNAPSHOT_FILE`. */
  file: z.string().min(1).optional(),
  /** Logs of child sessions. Default: `$DSH_SNAPSHOT_CHILD_FILES`, joined like `$PATH`. */
  childFiles: z.array(z.string().min(1)).optional(),
  /** Default: `$DSH_SNAPSHOT_OVERRIDE`. An absent file is no override. */
  override: z.string().min(1).optional(),
  /** A call that the log shows without an end is played as far as it went, and waits there to be cancelled. */
  holdUnfinished: z.boolean().default(false),
  paceMs: z
    .unknown()
    .optional()
    .refine((value) => value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0), {
      error: (issue) => `llm-replay: paceMs must be a non-negative integer, got ${String(issue.input)}`,
    })
    .transform((value) => (value ?? 0) as number),
  /** What the routes and models are. Without it every call is served, on any route, and a scripted throw stays a throw. */
  providers: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        name: z.string().min(1).optional(),
        retryPolicy: retryPolicySchema().optional(),
        models: z.array(model).default([]),
      }),
    )
    .optional(),
})
export type Config = z.infer<typeof Config>
export type ReplayProvider = NonNullable<Config['providers']>[number]

export interface ScriptFiles {
  readonly primary: string
  readonly children: readonly string[]
  readonly override: string | undefined
}

export function scriptFiles(config: Config, env: NodeJS.ProcessEnv): ScriptFiles {
  const primary = config.file ?? (env['DSH_SNAPSHOT_FILE'] || undefined)
  if (primary === undefined)
    throw new Error('llm-replay: a fixture path is required (Config.file or $DSH_SNAPSHOT_FILE)')
  const listed = (env['DSH_SNAPSHOT_CHILD_FILES'] ?? '').split(path.delimiter).filter((file) => file !== '')
  return {
    primary,
    children: config.childFiles ?? listed,
    override: config.override ?? (env['DSH_SNAPSHOT_OVERRIDE'] || undefined),
  }
}
