import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Composition, nearest, walkRows } from '@dsh/compose/core'
import { UsageError } from '../argv.ts'
import { openHome } from '../home.ts'
import { composeProfile } from '../layers.ts'
import { entryFault } from '../load-module.ts'
import { bringBack, findManager, runManager } from '../package-manager.ts'
import { profileDir, profileError, profileNames, readProfile, templateNames } from '../profile.ts'
import { newProfile } from '../profile-files.ts'
import { ProfileSnapshot } from '../profile-snapshot.ts'
import { newDependencies, reconcileBundles } from '../reconcile-bundles.ts'

const usage = `Usage: dsh plugin --profile <name> <command> [package...]

Manages the out-of-tree rows of a profile with pnpm or npm, whichever is there.

  add <package>...      install and, where a package brings a bundle, put it into the profile
  remove <package>...   the way back
  update [package...]   newer versions
  install               install what the profile's manifest lists
  list                  what is installed

A package is a name, a version, a tarball, a git URL or a directory (./my-plugin). When anything fails the profile is
left as it was. A running profile keeps its rows until it is started again.
`

export async function run(args: readonly string[]): Promise<number> {
  const { profile: name, words } = takeProfile(args)
  if (name === undefined && (words.length === 0 || words[0] === '--help' || words[0] === '-h')) {
    process.stdout.write(usage)
    return 0
  }
  if (name === undefined) throw new UsageError("error: required option '--profile <name>' not specified")
  if (name === '') throw new UsageError('error: --profile needs a name')
  if (words.length === 0) {
    throw new UsageError('error: plugin needs package manager arguments to forward (e.g. add <package>)')
  }
  const home = openHome()
  const dir = profileDir(home, name)
  const made = !existsSync(join(dir, 'package.json'))
  const verb = words.find((word) => !word.startsWith('-'))
  refuseMistyped(verb)
  if ((verb === 'add' || verb === 'remove') && words.filter((word) => !word.startsWith('-')).length === 1)
    throw new UsageError(`error: plugin ${verb} needs a package`)
  if (made && !MAKERS.includes(verb ?? '') && !templateNames().includes(name)) {
    const there = [...new Set([...templateNames(), ...profileNames(home)])].join(', ')
    throw profileError(`there is no profile "${name}", and only add or install makes one; profiles: ${there}`)
  }
  const manager = findManager(dir)
  if (manager === undefined) {
    process.stderr.write('dsh: neither pnpm nor npm found on PATH — install one to manage profile plugins\n')
    return 127
  }
  if (made) {
    await newProfile(home, name)
    process.stderr.write(`dsh: initialized profile ${name} at ${dir}\n`)
  }

  const before = await ProfileSnapshot.take(dir)
  const code = await runManager(
    manager,
    dir,
    words.map((word) => anchored(word, process.cwd())),
  )
  if (code !== 0) {
    await before.restore()
    process.stderr.write(`dsh: ${manager.name} failed in profile directory ${dir}; the profile is as it was\n`)
    if (words.some((word) => /^git\+|^github:|\.git(#|$)/.test(word))) {
      process.stderr.write(`dsh: a git package that builds itself needs allowBuilds in ${dir}/pnpm-workspace.yaml\n`)
    }
    return code
  }
  try {
    for (const line of await reconcileBundles(dir, before.manifest)) process.stderr.write(`dsh: ${line}\n`)
    const layers = { home, cwd: process.cwd(), patches: [], scope: 'all' } as const
    await refuseUnbuilt(
      dir,
      newDependencies(dir, before.manifest),
      await composeProfile(readProfile(home, name), layers),
    )
  } catch (error) {
    const added = newDependencies(dir, before.manifest)
    await before.restore()
    await bringBack(manager, dir, added)
    process.stderr.write('dsh: the profile does not compose with this; the profile is as it was\n')
    throw error
  }
  return 0
}

/** A row of a package just added that has no code would stop the next run, and only then. */
async function refuseUnbuilt(dir: string, added: readonly string[], { rows }: Composition): Promise<void> {
  for (const { name } of walkRows(rows)) {
    if (!added.some((pkg) => name === pkg || name.startsWith(`${pkg}/`))) continue
    const fault = await entryFault(dir, name)
    if (fault !== undefined) throw profileError(`${name}: ${fault}`)
  }
}

const VERBS = ['add', 'remove', 'update', 'install', 'list']
const MAKERS = ['add', 'install', 'i']
const MANAGERS_OWN = ['uninstall', 'upgrade', 'reinstall']

/** Words of the manager's own are passed on; one that is nearly ours is not. */
function refuseMistyped(verb: string | undefined): void {
  if (verb === undefined || VERBS.includes(verb) || MANAGERS_OWN.includes(verb)) return
  const near = nearest(verb, VERBS)
  if (near !== undefined) throw new UsageError(`error: unknown plugin command "${verb}" — did you mean "${near}"?`)
}

/** `--profile` may stand anywhere; one `--` is dropped; all else is the manager's. */
function takeProfile(args: readonly string[]): { profile: string | undefined; words: string[] } {
  let profile: string | undefined
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string
    if (word === '--profile') {
      profile = args[++i]
      if (profile === undefined) throw new UsageError("error: option '--profile <name>' argument missing")
    } else if (word.startsWith('--profile=')) profile = word.slice('--profile='.length)
    else words.push(word)
  }
  const dashes = words.indexOf('--')
  if (dashes >= 0) words.splice(dashes, 1)
  return { profile, words }
}

/** A relative directory means one beside the person, not beside the profile. */
function anchored(word: string, cwd: string): string {
  const match = /^(file:|link:)?(\.{1,2}(?:[/\\].*)?)$/.exec(word)
  return match === null ? word : `${match[1] ?? ''}${resolve(cwd, match[2] as string)}`
}
