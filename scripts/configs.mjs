// What the schema of each row makes of the configs that the program's own bundles give it: `dist/assets/configs.json`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

/** What the expressions of the bundles may come to beside paths. */
const modes = [undefined, 'read-only', 'workspace-write', 'danger-full-access']

/**
 * `compositions` are lists of rows; `dist` holds the built rows; `source` are the functions of the program that compose
 * rows, start them and look a config up.
 */
export async function configsOf({ compositions, dist, source }) {
  const known = {}
  for (const row of compositions.flatMap((rows) => [...source.walkRows(rows)])) {
    if (!row.name.startsWith('@dsh/')) continue
    const file = join(dist, 'rows', `${row.name.slice('@dsh/'.length)}.js`)
    const { Config } = source.rowPlugin(await import(pathToFileURL(file).href))
    if (Config === undefined) continue
    for (const [given, value] of outcomes(Config, row, source)) {
      if (!known[row.name]?.some(([text]) => text === given))
        known[row.name] = [...(known[row.name] ?? []), [given, value]]
    }
  }
  return JSON.stringify(known)
}

/** The bundles that a profile template names, by the last part of their package names. */
export function bundlesOf(profileDir) {
  const manifest = JSON.parse(readFileSync(join(profileDir, 'package.json'), 'utf8'))
  return manifest.dsh.profile.bundles.map((name) => name.slice('@dsh/bundle-'.length))
}

function outcomes(Config, row, source) {
  const before = process.env.DSH_PERMISSION_MODE
  try {
    return modes.flatMap((mode) => {
      if (mode === undefined) delete process.env.DSH_PERMISSION_MODE
      else process.env.DSH_PERMISSION_MODE = mode
      const found = outcome(Config, configOf(row, source), source)
      return found === undefined ? [] : [found]
    })
  } finally {
    if (before === undefined) delete process.env.DSH_PERMISSION_MODE
    else process.env.DSH_PERMISSION_MODE = before
  }
}

function configOf(row, { interpolate }) {
  const home = (...segments) => join('/home', ...segments)
  return interpolate(row.fields.config, { ctx: { dshHomePath: home }, home }) ?? {}
}

/** The config and its value as texts without paths; nothing where the value is no JSON or looks into a path. */
function outcome(Config, config, { validateConfig, withoutPaths, withPaths }) {
  const paths = []
  const given = withoutPaths(config, paths)
  const others = paths.map((_, at) => `/another place/${at}`)
  const [value, other] = [config, withPaths(given, others)].map((one) => validateConfig(Config, one))
  const text = withoutPaths(value, paths)
  const plain = isDeepStrictEqual(withPaths(text, paths), value) && withoutPaths(other, others) === text
  return plain ? [given, text] : undefined
}
