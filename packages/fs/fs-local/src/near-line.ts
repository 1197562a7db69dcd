/** Where an edit's text almost is: the first lines that match once blanks at both ends, or all blanks, are ignored. */
export function nearLineHint(text: string, needle: string): string | undefined {
  const wanted = needle
    .replaceAll('\r\n', '\n')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const first = wanted[0]
  if (first === undefined || first.length > 2000) return undefined
  const lines = text.split('\n')
  if (lines.length > 200_000) return undefined
  const hits = (same: (a: string, b: string) => boolean) =>
    lines.flatMap((line, index) => (same(line, first) ? [index + 1] : [])).slice(0, 3)
  const cases: readonly (readonly [(a: string, b: string) => boolean, string])[] = [
    [(a, b) => a === b || a === `${b}\r`, wanted.length > 1 ? 'matches its first line; the lines after it differ' : ''],
    [(a, b) => a.trimEnd() === b.trimEnd(), 'matches except for trailing whitespace'],
    [(a, b) => a.trim() === b.trim(), 'matches except for leading whitespace'],
    [(a, b) => squeeze(a) === squeeze(b), 'matches except for whitespace'],
    [(a, b) => squeeze(a).toLowerCase() === squeeze(b).toLowerCase(), 'matches except for letter case'],
  ]
  for (const [same, how] of cases) {
    if (how === '') continue
    const found = hits(same)
    if (found.length === 0) continue
    const subject = found.length === 1 ? `line ${found[0]} ${how}` : `lines ${found.join(', ')} ${plural(how)}`
    return `Hint: ${subject}.`
  }
  return undefined
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, '')
}

function plural(how: string): string {
  return how.replace(/^matches its first line/, 'match its first line').replace(/^matches/, 'match')
}
