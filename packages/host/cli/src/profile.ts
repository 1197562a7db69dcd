import { constants, copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canonicalBundle, suggestion } from '@dsh/compose/core'
import { DshError, errorCode, errorText, makeDirectorySync } from '@dsh/core'
import { bundlesDir, profileTemplatesDir } from './paths.ts'

export interface Profile {
  readonly name: string
  /** Where it lives in the home; may not exist yet. */
  readonly dir: string
  /** The file that names the bundles: the profile's own, or the template's. */
  readonly manifest: string
  /** Package names, in layer order. */
  readonly bundles: readonly string[]
  /** The template stands in, because the home has no such profile yet. */
  readonly fromTemplate: boolean
}

export function profileError(message: string, hint?: string): DshError {
  return new DshError(
    'PROFILE',
    message,
    hint === undefined ? { name: 'ProfileError' } : { name: 'ProfileError', hint },
  )
}

/** The names of the templates that come with the program. */
export function templateNames(): string[] {
  return readdirSync(profileTemplatesDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

export function profileDir(home: string, name: string): string {
  if (name === '' || name === '.' || name === '..' || name === 'node_modules' || /[/\\]/.test(name)) {
    throw profileError(`invalid profile name "${name}"`)
  }
  return join(home, 'profiles', name)
}

/**
 * Reads a profile without writing anything: a template stands in for one that the home does not have yet. With
 * `template`, the template wins over the home's own manifest, which is not opened.
 */
export function readProfile(home: string, name: string, prefer: 'own' | 'template' = 'own'): Profile {
  const dir = profileDir(home, name)
  const own = join(dir, 'package.json')
  const template = join(profileTemplatesDir, name, 'package.json')
  const fromTemplate = !existsSync(own)
  if (fromTemplate && !existsSync(template)) {
    const known = [...templateNames(), ...profileNames(home)]
    const near = suggestion(name, known)
    const make = `create it with 'dsh plugin --profile ${name} add <package>' or 'dsh profile new ${name}'`
    throw profileError(`profile "${name}" does not exist${near === '' ? `; ${make}` : `${near} Or ${make}`}`)
  }
  const manifest = fromTemplate || (prefer === 'template' && existsSync(template)) ? template : own
  try {
    return { name, dir, manifest, bundles: readBundles(manifest), fromTemplate }
  } catch (error) {
    if (manifest === template || !existsSync(template)) throw error
    throw profileError(`${errorText(error)}; to run without it: dsh --safe --profile ${name}`)
  }
}

export function profileNames(home: string): string[] {
  const root = join(home, 'profiles')
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, entry.name, 'package.json')))
    .map((entry) => entry.name)
    .sort()
}

/**
 * Copies the template into the home; files that are there already stay. A home that takes no files serves as well:
 * what has to be kept there, a session, says itself that it cannot.
 */
export function initialiseProfile(profile: Profile): void {
  if (!profile.fromTemplate) return
  try {
    makeDirectorySync(profile.dir)
    for (const file of readdirSync(join(profileTemplatesDir, profile.name))) copyTemplateFile(profile, file)
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error
  }
}

/** Node's own recursive copy is four times the work, for a handful of files. */
function copyTemplateFile(profile: Profile, file: string): void {
  try {
    copyFileSync(join(profileTemplatesDir, profile.name, file), join(profile.dir, file), constants.COPYFILE_EXCL)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

function readBundles(manifest: string): string[] {
  const data = readManifest(manifest, 'profile manifest')
  const dsh = section(data, 'dsh', manifest, 'profile manifest')
  const profile = section(dsh, 'profile', manifest, 'profile manifest')
  const bundles = profile['bundles'] ?? []
  if (!Array.isArray(bundles) || !bundles.every((name) => typeof name === 'string' && name !== '')) {
    throw profileError(`profile manifest ${manifest}: dsh.profile.bundles must be a list of package names`)
  }
  const twice = bundles.find((name, i) => bundles.indexOf(name) !== i)
  if (twice !== undefined) throw profileError(`profile manifest ${manifest}: bundle "${twice}" is listed twice`)
  return bundles.map(canonicalBundle)
}

export function readManifest(file: string, what: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw profileError(`failed to read ${what} ${file}: ${errorText(error)}`)
  }
  let data: unknown
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw profileError(`${what} ${file}: invalid JSON: ${errorText(error)}`)
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw profileError(`${what} ${file} must hold a JSON object`)
  }
  return data as Record<string, unknown>
}

function section(data: Record<string, unknown>, key: string, file: string, what: string): Record<string, unknown> {
  const value = data[key] ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) throw profileError(`${what} ${file}: ${key} must be an object`)
  return value as Record<string, unknown>
}

export interface BundleFile {
  readonly bundle: string
  readonly file: string
  readonly text: string
  /** The same, parsed when the program was built. */
  readonly compiled?: string
}

/** The patch file of a bundle: one that came with the program, else one installed in the profile. */
export function readBundle(profile: Profile, bundle: string): BundleFile {
  const manifest = bundleManifest(profile, bundle)
  const compiled = join(dirname(manifest), 'layer.json')
  if (manifest.startsWith(bundlesDir) && existsSync(compiled)) {
    const file = join(dirname(manifest), 'cordis.patch.yml')
    return { bundle, file, text: '', compiled: readFileSync(compiled, 'utf8') }
  }
  const data = readManifest(manifest, 'bundle manifest')
  const dsh = section(data, 'dsh', manifest, 'bundle manifest')
  const patch = section(dsh, 'bundle', manifest, 'bundle manifest')['patch']
  if (typeof patch !== 'string') {
    throw profileError(`profile bundle "${bundle}" declares no dsh.bundle in its package.json`)
  }
  const file = join(dirname(manifest), patch)
  try {
    return { bundle, file, text: readFileSync(file, 'utf8') }
  } catch (error) {
    throw profileError(`failed to read the patch of bundle "${bundle}": ${errorText(error)}`)
  }
}

/** The bundles that come with the program. */
export function shippedBundles(): string[] {
  return readdirSync(bundlesDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(bundlesDir, entry.name, 'package.json')))
    .map((entry) => `@dsh/bundle-${entry.name}`)
    .sort()
}

function bundleManifest(profile: Profile, bundle: string): string {
  const shipped = /^@dsh\/bundle-([a-z0-9-]+)$/.exec(bundle)?.[1]
  const builtIn = shipped === undefined ? undefined : join(bundlesDir, shipped, 'package.json')
  if (builtIn !== undefined && existsSync(builtIn)) return builtIn
  const installed = installedManifest(profile.dir, bundle)
  if (installed !== undefined) return installed
  throw profileError(
    `cannot resolve profile bundle "${bundle}" from the dsh installation or ${profile.dir}; run 'dsh plugin --profile ${profile.name} install' if its dependency is not installed`,
  )
}

/** Looks into every `node_modules` on the way up, so that packages whose `exports` hide their manifest are found. */
export function installedManifest(dir: string, name: string): string | undefined {
  const roots = createRequire(join(dir, 'package.json')).resolve.paths(name) ?? []
  return roots.map((root) => join(root, name, 'package.json')).find((file) => existsSync(file))
}
