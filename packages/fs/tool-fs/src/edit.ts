import type { JsonSchema, ToolDefinition } from '@dsh/tools'
import { requirePath } from './arguments.ts'
import { changeFile } from './change-file.ts'
import type { FileToolDeps, MutationArgs } from './deps.ts'
import { fileDiffs } from './diffs.ts'
import { editDescription } from './texts.ts'

export interface EditArgs extends MutationArgs {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}
export interface EditValue {
  readonly path: string
  readonly before: string | null
  readonly after: string
  readonly note?: string
}

export function editTool(
  deps: FileToolDeps,
  escalation: { readonly [name: string]: JsonSchema },
): ToolDefinition<EditArgs, EditValue> {
  return {
    name: 'edit',
    description: editDescription,
    parameters: {
      type: 'object',
      properties: {
        file_path: {
          type: 'string',
          description:
            'Path of the file, absolute or relative to the working directory. Give it before old_string and new_string.',
        },
        old_string: { type: 'string', description: 'The text to replace, exactly as it is in the file.' },
        new_string: { type: 'string', description: 'The text to put in its place; may be empty.' },
        replace_all: {
          type: 'boolean',
          description: 'Replace every occurrence. Defaults to false: old_string must occur exactly once.',
        },
        ...escalation,
      },
      required: ['file_path', 'old_string', 'new_string'],
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          before: { oneOf: [{ type: 'string' }, { type: 'null' }] },
          after: { type: 'string' },
          note: { type: 'string' },
        },
        required: ['path', 'before', 'after'],
      },
      render: (args, value) => [{ type: 'text', text: renderEdit(args, value) }],
      presentationMeta: (args, value) => ({
        path: value.path,
        diffs: fileDiffs(args.file_path, value.before, value.after),
      }),
    },
    nullIsAbsent: true,
    async execute(args, exec) {
      requirePath(args.file_path)
      if (args.old_string === '') throw new Error('old_string must be a non-empty string')
      if (args.old_string === args.new_string) throw new Error('old_string and new_string must differ')
      const { path, outcome, note } = await changeFile('edit', args, exec, deps, (target, policy) => {
        const edit = { oldString: args.old_string, newString: args.new_string, replaceAll: args.replace_all ?? false }
        return deps.fs.editText(target, edit, deps.editIntent(target, exec), exec.signal, policy)
      })
      return { path, before: outcome.before, after: outcome.after, ...note }
    },
  }
}

function renderEdit(args: EditArgs, value: EditValue): string {
  const text =
    args.replace_all === true
      ? `The file ${value.path} has been updated. All occurrences were successfully replaced.`
      : `The file ${value.path} has been updated successfully.`
  return value.note === undefined ? text : `${text}\n${value.note}`
}
