import { nearest } from '@dsh/compose/core'

/** A prompt that begins with a slash and a word is a command, unless it is a path that exists nowhere in the list. */
export function parseSlash(text: string): { readonly name: string; readonly args: string } | undefined {
  const match = /^\/([a-z][a-z0-9-]*)(?:\s+([\s\S]*))?$/.exec(text.trim())
  return match === null ? undefined : { name: match[1] as string, args: (match[2] ?? '').trim() }
}

export interface SlashCommand {
  readonly name: string
  readonly description: string
}

/** The surface's own commands; those of rows (`/permission`, `/compact`) are in the registry. */
export const ownCommands: readonly SlashCommand[] = [
  { name: 'help', description: 'keys and commands' },
  { name: 'model', description: 'choose the model of the next request' },
  { name: 'effort', description: 'reasoning effort, of those that the model knows' },
  { name: 'resume', description: 'go to another session' },
  { name: 'new', description: 'start a new session' },
  { name: 'fork', description: 'go on in a copy of this session' },
  { name: 'cd', description: 'move the current directory' },
  { name: 'cost', description: 'tokens, cache hits and cost so far' },
  { name: 'export', description: 'write this session to a file: md, html or jsonl, and a path (/export notes.html)' },
  { name: 'doctor', description: 'what works on this machine' },
  { name: 'login', description: 'store an API key' },
  { name: 'exit', description: 'leave' },
]

/** What is said of a command that neither the surface nor a row has. */
export function noSuchCommand(name: string, rows: readonly SlashCommand[]): string {
  const near = nearest(
    name,
    [...ownCommands, ...rows].map((command) => command.name),
  )
  return `no such command: /${name}${near === undefined ? '' : ` — did you mean /${near}?`} (see /help)`
}

export const keyHelp: readonly string[] = [
  'Enter sends · Shift+Enter, Ctrl+J or \\ Enter new line · while a turn runs Enter queues, Alt+Enter steers it now',
  'Esc cancels the turn · Ctrl+C twice leaves · Ctrl+Z suspends · Ctrl+O shows or folds everything · ↑ earlier prompts · @ files · / commands',
]
