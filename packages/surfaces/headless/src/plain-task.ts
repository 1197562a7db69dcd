import type { HeadlessOptions } from './options.ts'

/** A command line of words alone asks for the defaults; the parser of options, half of this app, stays unloaded. */
export function plainTask(args: readonly string[], cwd: string): HeadlessOptions | undefined {
  const task = args.join(' ')
  if (task.trim() === '' || args.some((word) => word.startsWith('-'))) return undefined
  return {
    task,
    format: 'text',
    session: { kind: 'new', id: undefined },
    ephemeral: false,
    model: undefined,
    effort: undefined,
    permissionMode: undefined,
    maxTurns: undefined,
    maxBudgetUsd: undefined,
    maxWallMs: undefined,
    cwd,
    lastMessageFile: undefined,
  }
}
