import type { ToolDefinition } from '@dsh/tools'
import { renderCall } from './render.ts'
import type { Shells } from './shells.ts'
import { words } from './words.ts'

interface Args {
  readonly command: string
}
interface Value {
  readonly text: string
  readonly meta: { readonly [fact: string]: unknown }
}

export interface PersistentBashOptions {
  readonly description: string
  readonly timeoutMs: number
  readonly maxOutputChars: number
}

export function persistentBash(shells: Shells, options: PersistentBashOptions): ToolDefinition<Args, Value> {
  return {
    name: 'bash',
    description: options.description,
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', description: 'The bash command to run.' } },
      required: ['command'],
    },
    output: {
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      render: (_args, value) => [{ type: 'text', text: value.text }],
      presentationMeta: (_args, value) => value.meta,
    },
    execute: async ({ command }, exec) => {
      if (command.trim() === '') throw new Error(words.emptyCommand)
      if (exec.agent === undefined) throw new Error(words.noAgent)
      const { timeoutMs, maxOutputChars } = options
      const call = await shells.run(exec.agent, command, timeoutMs, exec.signal)
      const { restarted, policy, confined } = call
      return {
        text: renderCall(call, { timeoutMs, maxOutputChars, ...(restarted === undefined ? {} : { restarted }) }),
        meta: {
          kind: 'persistent',
          end: call.end,
          clipped: call.clipped,
          sandbox: {
            mode: policy.mode,
            ...(confined === undefined ? {} : { rung: confined.rung, enforcement: confined.enforcement }),
          },
        },
      }
    },
  }
}
