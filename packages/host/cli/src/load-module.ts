import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nearest } from '@dsh/compose/core'
import { DshError, errorCode } from '@dsh/core'
import type { LoadModule } from '@dsh/host'
import { builtins } from './builtins.ts'

const ANCHOR = '.dsh-anchor.mjs'
const ANCHOR_TEXT = `// Written by dsh: rows of this profile are resolved from here.\nexport const load = (name) => import(name)\n`

/** Rows that came with the program are known by name; every other name is resolved from the profile's directory. */
export function moduleLoader(profileDir: string): LoadModule {
  let anchor: Promise<{ load: (name: string) => Promise<unknown> }> | undefined
  return async (name) => {
    const builtin = Object.hasOwn(builtins, name) ? builtins[name] : undefined
    if (builtin !== undefined) return builtin.load()
    if (name.startsWith('file:') || isAbsolute(name)) return importFile(name)
    anchor ??= importAnchor(profileDir)
    try {
      return await (await anchor).load(name)
    } catch (error) {
      const near = name.startsWith('@dsh/') ? nearest(name, Object.keys(builtins)) : undefined
      if (near === undefined || errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
      throw new DshError('ROW_NAME', `cannot find package "${name}" — did you mean "${near}"?`)
    }
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

async function importAnchor(dir: string): Promise<{ load: (name: string) => Promise<unknown> }> {
  const file = join(dir, ANCHOR)
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(file, ANCHOR_TEXT)
  }
  return importModule(pathToFileURL(file).href) as ReturnType<typeof importAnchor>
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
