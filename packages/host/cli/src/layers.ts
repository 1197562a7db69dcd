import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  ComposeError,
  type Composition,
  checkComposition,
  compose,
  type Layer,
  type LayerKind,
  type LayerSource,
  layerFromJson,
  type Problem,
} from '@dsh/compose/core'
import { errorCode } from '@dsh/core'
import { withoutPath } from './home.ts'
import { type Profile, profileError, readBundle } from './profile.ts'

export interface LayerOptions {
  readonly home: string
  readonly cwd: string
  readonly patches: readonly string[]
  /** `bundles`: nothing else is opened. `safe`: bundles and `--patch` files, and a launcher layer that forgives. */
  readonly scope: 'all' | 'safe' | 'bundles'
}

/** What `--safe` changes: a credentials file that cannot be used is reported instead of refusing the start. */
const SAFE_LAYER: Layer = {
  label: '(launcher)',
  kind: 'launcher',
  file: '(launcher)',
  patches: [{ id: 'credentials', set: {}, merge: { strict: false }, optional: true }],
}

/**
 * The layers of a run, lowest first: bundles, the profile's file, the home's file, `--patch` files, the home's
 * settings, the launcher's own. The problems of all files are reported together.
 */
export async function readLayers(profile: Profile, options: LayerOptions): Promise<Layer[]> {
  const layers: Layer[] = []
  const problems: Problem[] = []
  const add = async (source: LayerSource | undefined) => {
    if (source === undefined) return
    try {
      layers.push(await parseSource(source))
    } catch (error) {
      if (!(error instanceof ComposeError)) throw error
      problems.push(...error.problems)
    }
  }
  for (const name of profile.bundles) {
    const { bundle, file, text, compiled } = readBundle(profile, name)
    if (compiled !== undefined) layers.push(layerFromJson(compiled, file))
    else await add({ label: bundle, kind: 'bundle', file, text })
  }
  if (options.scope === 'all') {
    await add(optionalFile('profile', profilePatchFile(profile)))
    await add(optionalFile('home', homePatchFile(options.home)))
  }
  for (const patch of options.patches) await add(patchFile(patch, options.cwd))
  if (options.scope === 'all') await add(settingsFile(options.home))
  if (problems.length > 0) throw new ComposeError(problems)
  if (options.scope === 'safe') layers.push(SAFE_LAYER)
  return layers
}

/** A file that says nothing, as the templates' do, is spared the YAML parser. */
async function parseSource(source: LayerSource): Promise<Layer> {
  const { label, kind, file, text } = source
  if (/^(?:[ ]*(?:#.*)?\n|\[\] *\n)*(?:\[\] *)?$/.test(text) && kind !== 'settings')
    return { label, kind, file, patches: [] }
  const { readLayer, readSettings } = await import('./parse-layer.ts')
  return kind === 'settings' ? readSettings(source) : readLayer(source)
}

/** Applied and checked: what boot mounts and a dump prints. */
export async function composeProfile(profile: Profile, options: LayerOptions): Promise<Composition> {
  const composition = compose(await readLayers(profile, options))
  checkComposition(composition)
  return composition
}

function profilePatchFile(profile: Profile): string {
  return join(profile.dir, 'cordis.patch.yml')
}

function homePatchFile(home: string): string {
  return join(home, 'cordis.patch.yml')
}

/** The files whose changes reach a running profile. */
export function userFiles(profile: Profile, home: string): string[] {
  return [profilePatchFile(profile), homePatchFile(home), ...SETTINGS_NAMES.map((name) => join(home, name))]
}

const SETTINGS_NAMES = ['settings.yaml', 'settings.yml', 'settings.json']

function settingsFile(home: string): LayerSource | undefined {
  for (const name of SETTINGS_NAMES) {
    const source = optionalFile('settings', join(home, name))
    if (source !== undefined) return source
  }
  return undefined
}

/** What `--patch` names, in the person's own spelling where it cannot be read. */
function patchFile(name: string, cwd: string): LayerSource {
  const file = resolve(cwd, name)
  try {
    return { label: file, kind: 'patch', file, text: readFileSync(file, 'utf8') }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw profileError(`there is no file ${name} (--patch)`)
    if (code === 'EISDIR') throw profileError(`${name} is a directory, not a patch file`)
    throw profileError(`failed to read ${name}: ${withoutPath(error)}`)
  }
}

function optionalFile(kind: LayerKind, file: string): LayerSource | undefined {
  try {
    return { label: file, kind, file, text: readFileSync(file, 'utf8') }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw profileError(`failed to read ${file}: ${withoutPath(error)}`)
  }
}
