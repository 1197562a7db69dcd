import { type EscalationArgs, escalationParameters } from '@dsh/sandbox'
import type { JsonSchema } from '@dsh/tools'
import type { Variant } from './description.ts'

export interface BashArgs extends EscalationArgs {
  readonly command: string
  readonly description: string
  readonly timeoutMs?: number | null
  readonly workdir?: string | null
  readonly run_in_background?: boolean | null
}

export function bashParameters(variant: Variant): JsonSchema {
  return {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The bash command to execute.' },
      description: {
        type: 'string',
        description:
          'Clear, concise description of what this command does in active voice, 5-10 words (shown in the UI). Examples: "ls" → "List files in current directory"; "git status" → "Show working tree status"; "npm install" → "Install package dependencies".',
      },
      timeoutMs: {
        type: 'number',
        description:
          'Timeout in milliseconds. The executor applies its configured default and cap, and kills the command on expiry.',
      },
      workdir: {
        type: 'string',
        description:
          'Working directory for this command. Defaults to the session workspace; a relative path is resolved against it.',
      },
      ...(variant.background ? backgroundParameter : {}),
      ...(variant.confined ? escalationParameters('command') : {}),
    },
    required: ['command', 'description'],
  }
}

const backgroundParameter = {
  run_in_background: {
    type: 'boolean',
    description:
      'Run in the background and return a job id immediately (collect with job_output, stop with job_kill). No timeout applies.',
  },
} as const

/** Linux takes no single argument longer than 128 KiB, its end mark included (MAX_ARG_STRLEN). */
const longestCommand = 131_071

/** What a schema cannot say. */
export function checkArgs(args: BashArgs): void {
  if (args.command.trim() === '') throw new Error('invalid command: expected a non-empty string')
  if (args.command.includes('\0')) throw new Error('invalid command: a command cannot contain a NUL byte')
  const bytes = Buffer.byteLength(args.command)
  if (bytes > longestCommand)
    throw new Error(
      `invalid command: ${bytes} bytes are more than the ${longestCommand} that the system passes to a program; put the text into a file with write and use that`,
    )
  if (args.description.trim() === '') throw new Error('invalid description: expected a non-empty string')
  const { timeoutMs } = args
  if (typeof timeoutMs === 'number' && timeoutMs <= 0)
    throw new Error(`invalid timeoutMs: expected a positive number, got ${JSON.stringify(timeoutMs)}`)
}
