/** What a headless run was asked for, read from the command line. */
export interface HeadlessOptions {
  /** The prompt; undefined = it comes from stdin. */
  readonly task: string | undefined
  readonly format: OutputFormat
  readonly session: SessionChoice
  readonly ephemeral: boolean
  /** `model`, or `provider/model`; either may end in `:effort`. */
  readonly model: string | undefined
  readonly effort: string | undefined
  readonly permissionMode: string | undefined
  readonly maxTurns: number | undefined
  readonly maxBudgetUsd: number | undefined
  readonly maxWallMs: number | undefined
  /** Absolute; the directory the agent works in. */
  readonly cwd: string
  /** Absolute; where the last answer is written besides stdout. */
  readonly lastMessageFile: string | undefined
}

export const outputFormats = ['text', 'json', 'stream-json'] as const
export type OutputFormat = (typeof outputFormats)[number]

export type SessionChoice =
  | { readonly kind: 'new'; readonly id: string | undefined }
  | { readonly kind: 'continue'; readonly fork: boolean; readonly forkId: string | undefined }
  | { readonly kind: 'resume'; readonly id: string; readonly fork: boolean; readonly forkId: string | undefined }

/** The command line, or the state of this machine, asks for something that cannot be done. Exit code 2. */
export class UsageError extends Error {}

export const taskRequired = 'error: a task is required, for example: dsh --profile headless "run the tests"'
