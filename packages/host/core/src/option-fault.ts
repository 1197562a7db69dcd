/**
 * One line for what a command-line parser found wrong. The parser's own guess is kept on that line; an option of the
 * launcher's is told where it belongs.
 */
export function optionFault(message: string, launcherOptions: readonly string[]): string {
  const [, option = ''] = /^error: unknown option '(--[^'=]+)/.exec(message) ?? []
  if (launcherOptions.includes(option))
    return `error: ${option} is the launcher's: it stands before the profile's own options and the task (see dsh --help)`
  return message.trim().replace(/\n\(Did you mean (?:one of )?(.+?)\?\)$/, (_, names: string) => {
    const quoted = names.split(', ').map((name) => `'${name}'`)
    return ` — did you mean ${quoted.join(' or ')}?`
  })
}
