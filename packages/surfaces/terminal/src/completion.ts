import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from '@mariozechner/pi-tui'

export interface CommandEntry {
  readonly name: string
  readonly description: string
  readonly complete?: (argument: string) => Promise<readonly AutocompleteItem[]> | readonly AutocompleteItem[]
}

export interface CompletionSources {
  readonly commands: () => readonly CommandEntry[]
  /** Candidates for what stands behind `@`, with their spelling and whether they are directories. */
  readonly files: (
    query: string,
    signal: AbortSignal,
  ) => Promise<readonly { readonly path: string; readonly directory: boolean }[]>
}

/** Completes `/command` at the start of the prompt and `@path` anywhere in it. */
export function createCompletion(sources: CompletionSources): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol, { signal }) {
      const before = (lines[cursorLine] ?? '').slice(0, cursorCol)
      if (cursorLine === 0 && before.startsWith('/')) return commandSuggestions(before, sources.commands())
      const token = referenceToken(before)
      if (token === undefined) return null
      const found = await sources.files(token.query, signal)
      if (signal.aborted || found.length === 0) return null
      return {
        prefix: token.text,
        items: found.map((file) => ({
          value: insertion(file, token.quoted),
          label: file.directory ? `${file.path}/` : file.path,
        })),
      }
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? ''
      const start = cursorCol - prefix.length
      const open = item.value.endsWith('/') || item.value.startsWith('/') ? '' : ' '
      const inserted = item.value.startsWith('/') ? `${item.value} ` : `${item.value}${open}`
      const next = [...lines]
      next[cursorLine] = line.slice(0, start) + inserted + line.slice(cursorCol)
      return { lines: next, cursorLine, cursorCol: start + inserted.length }
    },
    shouldTriggerFileCompletion(lines, cursorLine, cursorCol) {
      return referenceToken((lines[cursorLine] ?? '').slice(0, cursorCol)) !== undefined
    },
  }
}

async function commandSuggestions(
  before: string,
  commands: readonly CommandEntry[],
): Promise<AutocompleteSuggestions | null> {
  const space = before.indexOf(' ')
  if (space < 0) {
    const items = commands
      .filter((command) => `/${command.name}`.startsWith(before))
      .map((command) => ({ value: `/${command.name}`, label: `/${command.name}`, description: command.description }))
    return items.length === 0 ? null : { items, prefix: before }
  }
  const command = commands.find((entry) => `/${entry.name}` === before.slice(0, space))
  const argument = before.slice(space + 1)
  const items = (await command?.complete?.(argument)) ?? []
  const fitting = items.filter((item) => item.value.startsWith(argument))
  // A word that is complete needs no list: Enter sends it.
  if (fitting.length === 0 || fitting.some((item) => item.value === argument)) return null
  return { items: [...fitting], prefix: argument }
}

/** `@` at the start or after white space up to the cursor: `@src/a` or an open `@"my dir/`. `a@b` never is one. */
export function referenceToken(
  before: string,
): { readonly text: string; readonly query: string; readonly quoted: boolean } | undefined {
  const match = /(?:^|\s)(@"([^"]*)|@([^\s"]*))$/.exec(before)
  if (match === null) return undefined
  const text = match[1] as string
  return { text, query: match[2] ?? match[3] ?? '', quoted: match[2] !== undefined }
}

function insertion(file: { readonly path: string; readonly directory: boolean }, quoted: boolean): string {
  const path = file.directory ? `${file.path}/` : file.path
  if (!quoted && !/\s/.test(path)) return `@${path}`
  return file.directory ? `@"${path}` : `@"${path}"`
}
