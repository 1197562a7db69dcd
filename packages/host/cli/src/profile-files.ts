import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '@dsh/core'
import { homeFault } from './home.ts'
import { profileTemplatesDir } from './paths.ts'
import { profileDir, profileError, templateNames } from './profile.ts'

/** Makes a profile's directory: its template, or the headless one with other bundles. Never overwrites a file. */
export async function newProfile(home: string, name: string, bundles?: readonly string[]): Promise<string> {
  const dir = profileDir(home, name)
  if (/\s/.test(name)) throw profileError(`invalid profile name "${name}": it has blanks in it`)
  const hasTemplate = templateNames().includes(name)
  const template = join(profileTemplatesDir, hasTemplate ? name : 'headless')
  await makeDirectory(dir).catch((error: unknown) => {
    throw homeFault(home, error)
  })
  if (bundles !== undefined || !hasTemplate) {
    await writeManifest(dir, {
      name: `dsh-profile-${name}`,
      private: true,
      dependencies: {},
      dsh: { profile: { bundles: bundles ?? ['@dsh/bundle-base'] } },
    })
  }
  await cp(template, dir, { recursive: true, force: false })
  if (!hasTemplate) {
    const patch = join(dir, 'cordis.patch.yml')
    await writeFile(patch, (await readFile(patch, 'utf8')).replaceAll('--profile headless', `--profile ${name}`))
  }
  return dir
}

export async function writeManifest(dir: string, manifest: unknown): Promise<void> {
  await writeFile(join(dir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
