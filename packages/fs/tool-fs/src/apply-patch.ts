import type { EscalationArgs } from '@dsh/sandbox'
import type { JsonSchema, ToolDefinition } from '@dsh/tools'
import { renderCommit } from './apply-patch-output.ts'
import { patchMeta } from './apply-patch-presentation.ts'
import type { FileToolDeps } from './deps.ts'
import { type CommitReport, executePatch } from './patch/index.ts'
import { applyPatchDescription } from './texts.ts'

export interface ApplyPatchArgs extends EscalationArgs {
  readonly input: string
}

export function applyPatchTool(
  deps: FileToolDeps,
  escalation: { readonly [name: string]: JsonSchema },
): ToolDefinition<ApplyPatchArgs, CommitReport> {
  return {
    name: 'apply_patch',
    description: applyPatchDescription,
    parameters: {
      type: 'object',
      properties: {
        input: { type: 'string', description: 'The whole patch, from *** Begin Patch to *** End Patch.' },
        ...escalation,
      },
      required: ['input'],
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          phase: { type: 'string', enum: ['commit'] },
          cancelled: { type: 'boolean' },
          operations: { type: 'array', items: operationSchema },
          affectedPaths: { type: 'array', items: { type: 'string' } },
        },
        required: ['phase', 'cancelled', 'operations', 'affectedPaths'],
      },
      render: (_args, value) => [{ type: 'text', text: renderCommit(value) }],
      presentationMeta: (_args, value) => patchMeta(value),
    },
    nullIsAbsent: true,
    async execute(args, exec) {
      const policy = await deps.policyFor(args, exec, pathsIn(args.input))
      return await executePatch(args.input, policy, exec, deps)
    },
  }
}

const nullableText: JsonSchema = { oneOf: [{ type: 'string' }, { type: 'null' }] }
const operationSchema: JsonSchema = {
  type: 'object',
  properties: {
    index: { type: 'integer' },
    kind: { type: 'string', enum: ['add', 'update', 'delete', 'move'] },
    path: { type: 'string' },
    destination: { type: 'string' },
    line: { type: 'integer' },
    status: { type: 'string', enum: ['completed', 'failed', 'unknown', 'skipped'] },
    diagnostic: { type: 'string' },
    changes: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, before: nullableText, after: nullableText },
        required: ['path', 'before', 'after'],
      },
    },
  },
  required: ['index', 'kind', 'path', 'line', 'status', 'changes'],
}

/** What a person is asked to allow: every path that a header names. */
function pathsIn(input: string): string {
  const headers = input.matchAll(/^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to):[ \t]*(.+?)\s*$/gm)
  return [...new Set([...headers].map((match) => match[1]))].join(', ')
}
