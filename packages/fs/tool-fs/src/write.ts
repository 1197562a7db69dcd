import type { JsonSchema, ToolDefinition } from '@dsh/tools'
import { requirePath } from './arguments.ts'
import { type FileToolDeps, type MutationArgs, sessionCwd } from './deps.ts'
import { fileDiffs } from './diffs.ts'
import { mutationError } from './error.ts'
import { settleMutation, splitLinksNote } from './mutation-result.ts'
import { envelope } from './read-render.ts'
import { writeDescription } from './texts.ts'

export interface WriteArgs extends MutationArgs {
  readonly content: string
}
export interface WriteValue {
  readonly path: string
  readonly operation: 'create' | 'update'
  readonly before: string | null
  readonly after: string
  readonly note?: string
}

export function writeTool(
  deps: FileToolDeps,
  escalation: { readonly [name: string]: JsonSchema },
): ToolDefinition<WriteArgs, WriteValue> {
  return {
    name: 'write',
    description: writeDescription,
    parameters: {
      type: 'object',
      properties: {
        file_path: {
          type: 'string',
          description: 'Path of the file, absolute or relative to the working directory. Give it before content.',
        },
        content: { type: 'string', description: 'The whole new content of the file.' },
        ...escalation,
      },
      required: ['file_path', 'content'],
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          operation: { type: 'string', enum: ['create', 'update'] },
          before: { oneOf: [{ type: 'string' }, { type: 'null' }] },
          after: { type: 'string' },
          note: { type: 'string' },
        },
        required: ['path', 'operation', 'before', 'after'],
      },
      render: (_args, value) => [{ type: 'text', text: renderWrite(value) }],
      presentationMeta: (args, value) => ({
        path: value.path,
        diffs: fileDiffs(args.file_path, value.before, value.after),
      }),
    },
    nullIsAbsent: true,
    async execute(args, exec) {
      const { fs } = deps
      const { signal } = exec
      requirePath(args.file_path)
      const policy = await deps.policyFor(args, exec, args.file_path)
      let shown = args.file_path
      try {
        const target = await fs.resolve(args.file_path, { cwd: sessionCwd(exec), signal, verb: 'write' })
        shown = target.displayPath
        const intent = deps.writeIntent(target, exec)
        const outcome = await fs.writeText(target, args.content, intent, signal, policy)
        const { operation, before, after, bytes = {} } = outcome
        const path = await settleMutation(target, outcome.version, { operation, bytes }, exec, deps)
        const note = deps.hints ? splitLinksNote(outcome.links) : undefined
        return { path, operation, before, after, ...(note === undefined ? {} : { note }) }
      } catch (error) {
        throw mutationError(error, { shown, mode: policy?.mode, hints: deps.hints })
      }
    },
  }
}

function renderWrite(value: WriteValue): string {
  const text = envelope(value.path, 'file', value.operation === 'create' ? 'Created file' : 'Updated file')
  return value.note === undefined ? text : `${text}\n${value.note}`
}
