import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { assetsDir } from './paths.ts'

/** For each row, what its schema makes of a config: both as JSON text with numbers for paths. */
type Known = Readonly<Record<string, readonly (readonly [given: string, value: string])[]>>

/**
 * What the schemas of the program's own rows make of the configs that its bundles give them, worked out when it was
 * built: schemas that need not be asked need not be made. Undefined for every other config.
 */
export function knownConfigs(): (row: string, config: unknown) => unknown {
  let known: Known | undefined
  return (row, config) => {
    known ??= readKnown()
    const entries = Object.hasOwn(known, row) ? known[row] : undefined
    if (entries === undefined) return undefined
    const paths: string[] = []
    const given = withoutPaths(config ?? {}, paths)
    const value = entries.find(([text]) => text === given)?.[1]
    return value === undefined ? undefined : withPaths(value, paths)
  }
}

/** JSON text with a number, which `paths` gives meaning, in place of each absolute path. */
export function withoutPaths(value: unknown, paths: string[]): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'string' || !isAbsolute(item)) return item
    if (!paths.includes(item)) paths.push(item)
    return `\0${paths.indexOf(item)}`
  })
}

export function withPaths(text: string, paths: readonly string[]): unknown {
  return JSON.parse(text, (_, item: unknown) =>
    typeof item === 'string' && item.startsWith('\0') ? paths[Number(item.slice(1))] : item,
  )
}

function readKnown(): Known {
  if (assetsDir === undefined) return {}
  try {
    return JSON.parse(readFileSync(join(assetsDir, 'configs.json'), 'utf8'))
  } catch {
    return {}
  }
}
