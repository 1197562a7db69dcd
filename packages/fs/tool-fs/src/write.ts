import type { JsonSchema, ToolDefinition } from '@dsh/tools'
import { requirePath } from './arguments.ts'
import { changeFile } from './change-file.ts'
import type { FileToolDeps, MutationArgs } from './deps.ts'
import { fileDiffs } from './diffs.ts'
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
      requirePath(args.file_path)
      const { path, outcome, note } = await changeFile('write', args, exec, deps, (target, policy) =>
        deps.fs.writeText(target, args.content, deps.writeIntent(target, exec), exec.signal, policy),
      )
      return { path, operation: outcome.operation, before: outcome.before, after: outcome.after, ...note }
    },
  }
}

function renderWrite(value: WriteValue): string {
  const text = envelope(value.path, 'file', value.operation === 'create' ? 'Created file' : 'Updated file')
  return value.note === undefined ? text : `${text}\n${value.note}`
}
