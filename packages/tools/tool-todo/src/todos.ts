import type { JsonSchema } from '@dsh/tools'

export interface Todo {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export interface TodoArgs {
  readonly todos: readonly Todo[]
}

export const description =
  'Record and update a structured task list for the current work. Send the ENTIRE list every call — it REPLACES the previous list (there are no partial updates, no per-item edits). Use it to plan multi-step work and show progress: add one todo per concrete step before you start. Mark every todo being actively worked on `in_progress` — several at once when work genuinely runs in parallel (e.g. concurrent subagents or background commands), one for sequential work; while work remains, at least one task should be `in_progress`. Mark a todo `completed` the moment it is done (do not batch completions), and allow no `in_progress` item only once all work is complete. Skip the list for trivial single-step tasks. Statuses: `pending` (not started), `in_progress` (being worked on now), `completed` (finished).'

/** Of a composition in which work never runs in parallel. */
export const sequentialDescription = description.replace(
  'Mark every todo being actively worked on `in_progress` — several at once when work genuinely runs in parallel (e.g. concurrent subagents or background commands), one for sequential work; while work remains, at least one task should be `in_progress`.',
  'Mark the todo being actively worked on `in_progress` — one at a time; while work remains, exactly one task should be `in_progress`.',
)

export const parameters: JsonSchema = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      description: 'The COMPLETE task list, replacing any previous list.',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          content: { type: 'string', description: 'What the task is — a short imperative line.' },
          status: {
            type: 'string',
            description: 'pending (not started) | in_progress (now) | completed (done).',
            enum: ['pending', 'in_progress', 'completed'],
          },
        },
        required: ['content', 'status'],
      },
    },
  },
  required: ['todos'],
}

/** Throws with the text for the model. */
export function checkTodos(todos: readonly Todo[], allowParallel: boolean): void {
  const seen = new Set<string>()
  for (const { content } of todos) {
    if (content.trim() === '') throw new Error('invalid todo: `content` must be a non-empty string')
    if (seen.has(content)) throw new Error(`invalid todos: duplicate content ${JSON.stringify(content)}`)
    seen.add(content)
  }
  const active = countOf(todos, 'in_progress')
  if (!allowParallel && active > 1)
    throw new Error(`invalid todos: at most one task may be in_progress (got ${active})`)
}

export function summary(todos: readonly Todo[]): string {
  const [pending, active, done] = (['pending', 'in_progress', 'completed'] as const).map((s) => countOf(todos, s))
  return `Updated todo list: ${pending} pending, ${active} in progress, ${done} completed.`
}

function countOf(todos: readonly Todo[], status: Todo['status']): number {
  return todos.filter((todo) => todo.status === status).length
}
