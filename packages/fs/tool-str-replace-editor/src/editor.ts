import { assertNever } from '@dsh/core'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import { create, insert, strReplace } from './change.ts'
import type { EditorArgs, EditorDeps } from './deps.ts'
import { requireAbsolute, spoken } from './errors.ts'
import { view } from './view.ts'

export function editorTool(deps: EditorDeps, description: string): ToolDefinition<EditorArgs, string> {
  return {
    name: 'str_replace_editor',
    description,
    parameters: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert'],
          description: 'What to do: `view`, `create`, `str_replace` or `insert`.',
        },
        path: { type: 'string', description: 'Absolute path of a file or directory, e.g. `/repo/file.py`.' },
        file_text: { type: 'string', description: 'Required by `create`: the content of the new file.' },
        old_str: { type: 'string', description: 'Required by `str_replace`: the text in the file to replace.' },
        new_str: {
          type: 'string',
          description: 'The new text of `str_replace` (left out: delete), or the text that `insert` inserts.',
        },
        insert_line: {
          type: 'integer',
          description: 'Required by `insert`: `new_str` goes behind this line; 0 is the start of the file.',
        },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description:
            'For `view` of a file: first and last line, e.g. [11, 12], from 1; [start, -1] shows everything from start.',
        },
      },
      required: ['command', 'path'],
    },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    nullIsAbsent: true,
    async execute(args, exec) {
      requireAbsolute(args.path)
      try {
        return await run(args, exec, deps)
      } catch (error) {
        throw spoken(error, deps.policy(exec)?.mode)
      }
    },
  }
}

async function run(args: EditorArgs, exec: ToolExecution, deps: EditorDeps): Promise<string> {
  switch (args.command) {
    case 'view':
      return await view(args, exec, deps)
    case 'create':
      return await create(args, exec, deps)
    case 'str_replace':
      return await strReplace(args, exec, deps)
    case 'insert':
      return await insert(args, exec, deps)
    default:
      return assertNever(args.command)
  }
}
