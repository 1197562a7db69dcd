import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/session'
import type { JsonSchema } from '@dsh/tools'
import * as z from 'zod'
import { checkTodos, description, parameters, sequentialDescription, summary, type TodoArgs } from './todos.ts'

export const name = 'tool-todo'
export const inject = ['tools']

export const Config = lazySchema(() =>
  z.strictObject({
    /** Whether several tasks may be in progress at once. */
    allowParallelInProgress: z.boolean().default(true),
  }),
)

const output: JsonSchema = { type: 'object', properties: { todos: parameters.properties?.['todos'] ?? {} } }

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  ctx.tools.register<TodoArgs, TodoArgs>({
    name: 'todo_write',
    description: config.allowParallelInProgress ? description : sequentialDescription,
    parameters,
    output: { schema: output, render: (_args, { todos }) => [{ type: 'text', text: summary(todos) }] },
    async execute({ todos }, { agent }) {
      if (agent === undefined) throw new Error('todo_write requires an owning agent session')
      checkTodos(todos, config.allowParallelInProgress)
      agent.session.append('todo/write', { todos })
      return { todos }
    },
  })
}
