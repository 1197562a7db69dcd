/** A command line in its parts; undefined for a line that is none (`/usr/bin is full`, `//`). */
export function parseCommandLine(line: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ''] = /^\s*\/([a-z][a-z0-9-]*)(?:\s+([\s\S]*))?$/.exec(line) ?? []
  return name === undefined ? undefined : { name, args: args.trim() }
}

export function isCommandName(name: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(name)
}
