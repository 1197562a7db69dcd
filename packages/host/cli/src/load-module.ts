import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nearest } from '@dsh/compose/core'
import { DshError, errorCode, errorText } from '@dsh/core'
import type { LoadModule } from '@dsh/host'
import { builtins } from './builtins.ts'

const ANCHOR = '.dsh-anchor.mjs'
const ANCHOR_TEXT = `// Written by dsh: rows of this profile are resolved from here.
export const load = (name) => import(name)
export const resolve = (name) => import.meta.resolve(name)
`

interface Anchor {
  load(name: string): Promise<unknown>
  /** The URL of a package's entry, which need not be there. Throws where the package is not. */
  resolve(name: string): string
}

/** Rows that came with the program are known by name; every other name is resolved from the profile's directory. */
export function moduleLoader(profileDir: string): LoadModule {
  let anchor: Promise<Anchor> | undefined
  return async (name) => {
    const builtin = Object.hasOwn(builtins, name) ? builtins[name] : undefined
    if (builtin !== undefined) return builtin.load()
    if (name.startsWith('file:') || isAbsolute(name)) return importFile(name)
    anchor ??= importAnchor(profileDir)
    try {
      return await (await anchor).load(name)
    } catch (error) {
      if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
      const near = name.startsWith('@dsh/') ? nearest(name, Object.keys(builtins)) : undefined
      if (near !== undefined) throw new DshError('ROW_NAME', `cannot find package "${name}" — did you mean "${near}"?`)
      const absent = absentEntry(await anchor, name)
      throw absent === undefined ? error : new DshError('ROW_ENTRY', absent)
    }
  }
}

/** Why an installed package cannot be loaded from this profile: its entry is no file. Undefined for any other reason. */
export async function entryFault(profileDir: string, name: string): Promise<string | undefined> {
  return absentEntry(await importAnchor(profileDir), name)
}

function absentEntry(anchor: Anchor, name: string): string | undefined {
  const file = entryFile(anchor, name)
  if (file === undefined || existsSync(file)) return undefined
  return `its file ${file} is not there; build the package, or correct "main" or "exports" in its package.json`
}

function entryFile(anchor: Anchor, name: string): string | undefined {
  try {
    const url = anchor.resolve(name)
    return url.startsWith('file:') ? fileURLToPath(url) : undefined
  } catch (error) {
    const [, file = ''] = /^Cannot find package '([^']+)'/.exec(errorText(error)) ?? []
    return isAbsolute(file) ? file : undefined
  }
}

/** A row's own file. That it is not there is said of it, not of the program's file that asked for it. */
function importFile(name: string): Promise<unknown> {
  const url = name.startsWith('file:') ? name : pathToFileURL(name).href
  if (!existsSync(new URL(url))) throw new Error(`there is no file ${fileURLToPath(url)}`)
  return importModule(url)
}

/** The one place that loads a module by a name made at run time; the build knows it by its parameter. */
function importModule(specifier: string): Promise<unknown> {
  return import(specifier)
}

async function importAnchor(dir: string): Promise<Anchor> {
  const file = join(dir, ANCHOR)
  if (!existsSync(file) || readFileSync(file, 'utf8') !== ANCHOR_TEXT) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(file, ANCHOR_TEXT)
  }
  return importModule(pathToFileURL(file).href) as Promise<Anchor>
}

/** A stack frame with the name of its chunk; the compiled program has most of them in one script. */
export function stackFrame(frame: string): string {
  return (import.meta as { frame?: (frame: string) => string }).frame?.(frame) ?? frame
}

/** What a stack frame of a row's code contains: its chunk, its file or its package directory. */
export function stackMark(name: string): string | undefined {
  if (Object.hasOwn(builtins, name)) return `/rows/${name.slice('@dsh/'.length)}.js:`
  if (name.startsWith('file:') || isAbsolute(name)) return name
  const pkg = /^(@[^/]+\/)?[^/]+/.exec(name)?.[0]
  return pkg === undefined ? undefined : `/node_modules/${pkg}/`
}
