import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Composition, checkComposition, compose, type Layer, type LayerKind, readLayer } from '@dsh/compose'
import { errorCode, errorText } from '@dsh/core'
import { type Profile, profileError, readBundle } from './profile.ts'

export interface LayerOptions {
  readonly home: string
  readonly cwd: string
  readonly patches: readonly string[]
  /** False: bundles and `--patch` files only. */
  readonly userFiles: boolean
}

/** The layers of a run, lowest first: bundles, the profile's file, the home's file, `--patch` files. */
export function readLayers(profile: Profile, options: LayerOptions): Layer[] {
  const layers = profile.bundles.map((name) => {
    const { bundle, file, text } = readBundle(profile, name)
    return readLayer({ label: bundle, kind: 'bundle', file, text })
  })
  const add = (kind: LayerKind, file: string, optional: boolean) => {
    const text = readText(file, optional)
    if (text !== undefined) layers.push(readLayer({ label: file, kind, file, text }))
  }
  if (options.userFiles) {
    add('profile', join(profile.dir, 'cordis.patch.yml'), true)
    add('home', join(options.home, 'cordis.patch.yml'), true)
  }
  for (const patch of options.patches) add('patch', resolve(options.cwd, patch), false)
  return layers
}

/** Applied and checked: what boot mounts and a dump prints. */
export function composeProfile(profile: Profile, options: LayerOptions): Composition {
  const composition = compose(readLayers(profile, options))
  checkComposition(composition)
  return composition
}

function readText(file: string, optional: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (optional && errorCode(error) === 'ENOENT') return undefined
    throw profileError(`failed to read ${file}: ${errorText(error)}`)
  }
}
