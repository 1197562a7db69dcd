import { realpathSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'

/** Paths inside the working directory are shown relative to it; others as ripgrep printed them. */
export function displayPath(printed: string, cwd: string): string {
  if (!isAbsolute(printed)) return oneLine(printed)
  if (printed === cwd) return '.'
  const base = cwd.endsWith(sep) ? cwd : cwd + sep
  return oneLine(printed.startsWith(base) ? printed.slice(base.length) : printed)
}

/** A name with a line break would read as two rows. */
function oneLine(path: string): string {
  return path.replace(/[\n\r\v\f\u0085\u2028\u2029]/g, (char) => JSON.stringify(char).slice(1, -1))
}

/** Whether a found path lies in what the policy keeps from tools. */
export function hiddenFilter(
  hidden: readonly string[],
  cwd: string,
  root: string | undefined,
): ((printed: string) => boolean) | undefined {
  if (hidden.length === 0) return undefined
  const asked = resolve(cwd, root ?? '.')
  const real = realOf(asked)
  const relevant = hidden.filter((path) => within(real, path) || within(path, real))
  if (relevant.length === 0) return undefined
  return (printed) => {
    const absolute = resolve(cwd, printed)
    const place = within(asked, absolute) ? join(real, absolute.slice(asked.length)) : absolute
    return relevant.some((path) => within(path, place))
  }
}

function within(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
