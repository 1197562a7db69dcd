import { join } from 'node:path'
import { canonicalBundle, isMapping } from '@dsh/compose/core'
import { installedManifest, profileError, readManifest } from './profile.ts'
import { writeManifest } from './profile-files.ts'

/**
 * Brings a profile's bundle list in line with its dependencies: one that has a bundle is appended, one that is gone is
 * taken out. Bundles that never were dependencies stay. Gives the lines to tell. Throws when a new dependency is not
 * there: pnpm links a directory that does not exist and calls it done.
 */
export async function reconcileBundles(dir: string, manifestBefore: string): Promise<string[]> {
  const file = join(dir, 'package.json')
  const manifest = readManifest(file, 'profile manifest')
  const before = Object.keys(dependenciesOf(JSON.parse(manifestBefore)))
  const now = Object.keys(dependenciesOf(manifest))
  const listed = bundlesOf(manifest)
  const lines: string[] = []

  const absent = now.find((name) => !before.includes(name) && installedManifest(dir, name) === undefined)
  if (absent !== undefined) throw profileError(`no package is at ${dependenciesOf(manifest)[absent]} (${absent})`)

  const withBundle = now.filter((name) => hasBundle(dir, name))
  const bundles = listed.filter((name) => !isDependency(name) || withBundle.includes(name))
  for (const name of withBundle) if (!bundles.map(canonicalBundle).includes(name)) bundles.push(name)
  for (const name of now.filter((candidate) => !before.includes(candidate) && !withBundle.includes(candidate))) {
    lines.push(
      `warning: ${name} declares no dsh.bundle — installed as a plain dependency, not a profile layer (a later update that gains one activates it automatically)`,
    )
  }
  if (JSON.stringify(bundles) !== JSON.stringify(listed)) {
    const dsh = isMapping(manifest['dsh']) ? manifest['dsh'] : {}
    const profile = isMapping(dsh['profile']) ? dsh['profile'] : {}
    await writeManifest(dir, { ...manifest, dsh: { ...dsh, profile: { ...profile, bundles } } })
    for (const name of bundles.filter((bundle) => !listed.includes(bundle)))
      lines.push(`${name} is a layer of this profile now`)
    for (const name of listed.filter((bundle) => !bundles.includes(bundle)))
      lines.push(`${name} is no layer of this profile any more`)
  }
  return lines

  function isDependency(name: string): boolean {
    return before.includes(name) || now.includes(name)
  }
}

/** What a profile depends on now and did not before. */
export function newDependencies(dir: string, manifestBefore: string): string[] {
  const before = Object.keys(dependenciesOf(JSON.parse(manifestBefore)))
  const now = Object.keys(dependenciesOf(readManifest(join(dir, 'package.json'), 'profile manifest')))
  return now.filter((name) => !before.includes(name))
}

function hasBundle(dir: string, name: string): boolean {
  const file = installedManifest(dir, name)
  if (file === undefined) return false
  const dsh = readManifest(file, 'bundle manifest')['dsh']
  return isMapping(dsh) && isMapping(dsh['bundle']) && typeof dsh['bundle']['patch'] === 'string'
}

function dependenciesOf(manifest: unknown): Record<string, unknown> {
  const dependencies = isMapping(manifest) ? manifest['dependencies'] : undefined
  return isMapping(dependencies) ? dependencies : {}
}

function bundlesOf(manifest: Record<string, unknown>): string[] {
  const dsh = manifest['dsh']
  const profile = isMapping(dsh) ? dsh['profile'] : undefined
  const bundles = isMapping(profile) ? profile['bundles'] : undefined
  return Array.isArray(bundles) ? bundles.filter((name) => typeof name === 'string') : []
}
