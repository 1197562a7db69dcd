import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalBundle, readLayer, suggestion } from '@dsh/compose'
import { UsageError } from '../argv.ts'
import { openHome } from '../home.ts'
import {
  installedManifest,
  profileDir,
  profileError,
  profileNames,
  readProfile,
  shippedBundles,
  templateNames,
} from '../profile.ts'
import { newProfile } from '../profile-files.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh profile <command>

  list                             the profiles of the home and the templates
  new <name> [--bundle <pkg>]...   make one; without --bundle from its template, else with the base
  path <name>                      print its directory
  rm <name> [--yes]                remove it; --yes when it holds changes of yours
`

const verbs = ['list', 'new', 'path', 'rm']

export async function run(args: readonly string[]): Promise<number> {
  const options = { bundle: { type: 'string', multiple: true }, yes: { type: 'boolean' } } as const
  const { values, positionals } = parseWords(args, options, 2)
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const [verb, name] = positionals
  const home = openHome()
  if (verb === 'list' && name === undefined) return list(home)
  if (verb === undefined || !verbs.includes(verb)) {
    const got = verb === undefined ? '' : `; got "${verb}"${suggestion(verb, verbs)}`
    throw new UsageError(`error: profile knows ${verbs.join(', ')}${got} (see dsh profile --help)`)
  }
  if (verb === 'list') throw new UsageError(`error: unexpected word "${name}"`)
  if (name === undefined) throw new UsageError(`error: profile ${verb} needs a name`)
  const dir = profileDir(home, name)
  if (verb === 'new') {
    if (existsSync(join(dir, 'package.json'))) throw profileError(`profile "${name}" exists already at ${dir}`)
    for (const bundle of (values['bundle'] as string[] | undefined) ?? []) refuseUnknownBundle(name, dir, bundle)
    await newProfile(home, name, values['bundle'] as string[] | undefined)
  } else if (verb === 'rm') await remove(home, name, values['yes'] === true)
  else readProfile(home, name)
  process.stdout.write(`${dir}\n`)
  return 0
}

/** Nothing is installed in a profile that is only made: the bundles that come with dsh are all there are. */
function refuseUnknownBundle(profile: string, dir: string, bundle: string): void {
  const shipped = shippedBundles()
  if (shipped.includes(canonicalBundle(bundle)) || installedManifest(dir, bundle) !== undefined) return
  const near = suggestion(bundle, shipped)
  const which = near === '' ? ` (${shipped.join(', ')})` : near
  throw profileError(
    `no bundle "${bundle}" comes with dsh${which}`,
    `A package of yours that has one is added by: dsh plugin --profile ${profile} add <package>`,
  )
}

function list(home: string): number {
  const own = profileNames(home)
  const names = [...new Set([...templateNames(), ...own])].sort()
  for (const name of names) {
    const where = own.includes(name) ? profileDir(home, name) : 'template, not in the home yet'
    process.stdout.write(`${name}\t${bundlesText(home, name)}\t${where}\n`)
  }
  return 0
}

function bundlesText(home: string, name: string): string {
  try {
    return readProfile(home, name).bundles.join(' ') || 'no bundles'
  } catch {
    return 'broken manifest'
  }
}

async function remove(home: string, name: string, yes: boolean): Promise<void> {
  const dir = profileDir(home, name)
  if (!existsSync(dir))
    throw profileError(`profile "${name}" is not in the home${suggestion(name, profileNames(home))}`)
  if (!yes && hasOwnContent(dir)) {
    throw profileError(
      `profile "${name}" holds patches or plugins of yours`,
      `dsh profile rm ${name} --yes removes them`,
    )
  }
  await rm(dir, { recursive: true })
}

/** Installed plugins, or a patch file that says anything at all. */
function hasOwnContent(dir: string): boolean {
  if (existsSync(join(dir, 'node_modules'))) return true
  const file = join(dir, 'cordis.patch.yml')
  if (!existsSync(file)) return false
  try {
    const text = readFileSync(file, 'utf8')
    return readLayer({ label: file, kind: 'profile', file, text }).patches.length > 0
  } catch {
    return true
  }
}
