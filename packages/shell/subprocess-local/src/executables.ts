import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path'

/**
 * The first `name` on `searchPath` that nobody confined could have planted: never in a relative or world-writable
 * directory, never in a `node_modules/.bin`, never below one of the `avoid` roots (both as spelled and resolved).
 */
export function findExecutable(name: string, searchPath: string, avoid: readonly string[]): string | undefined {
  // A root at / would leave nothing to find: there everything is the workspace.
  const roots = avoid.flatMap((root) => [root, realOr(root)]).filter((root) => root !== sep)
  for (const dir of searchPath.split(delimiter)) {
    if (!isAbsolute(dir)) continue
    const candidate = join(dir, name)
    const real = executableAt(candidate)
    if (real === undefined) continue
    const places = [candidate, real]
    if (places.some((place) => isPlantable(place) || roots.some((root) => isBelow(place, root)))) continue
    return candidate
  }
  return undefined
}

function executableAt(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    return undefined
  }
}

function isPlantable(path: string): boolean {
  if (path.includes(`${sep}node_modules${sep}.bin${sep}`)) return true
  try {
    return (statSync(dirname(path)).mode & 0o002) !== 0
  } catch {
    return true
  }
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function realOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
