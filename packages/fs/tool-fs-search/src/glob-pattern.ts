import { sep } from 'node:path'

/** ripgrep matches from the working directory and knows neither `./` nor absolute patterns. */
export function matchedFrom(pattern: string, cwd: string): string {
  const plain = pattern.startsWith('./') ? pattern.slice(1) : pattern
  const base = cwd.endsWith(sep) ? cwd : cwd + sep
  return plain.startsWith(base) ? `/${plain.slice(base.length)}` : plain
}

/** Whether a pattern names a place, so that it may have been meant below the given path. */
export function isAnchored(pattern: string): boolean {
  return pattern.includes('/') && !pattern.startsWith('**/') && !pattern.startsWith('!')
}
