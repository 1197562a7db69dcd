// Writes the declarations of `@dsh/cli/sdk` into the command's dist: those of the packages that the entry reaches and
// those of the framework, with every import relative, so that they resolve wherever the package is installed.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { root } from './ready.mjs'

const cordis = packageDir('cordis', path.join(root, 'vendor/cordis'))
/** Packages whose declarations are brought along; anything else that is imported must be one that a plugin author has. */
const vendored = {
  cordis: path.join(cordis, 'lib'),
  cosmokit: path.join(packageDir('cosmokit', cordis), 'lib'),
  '@standard-schema/spec': path.join(packageDir('@standard-schema/spec', cordis), 'dist'),
}
const foreign = new Set(['zod', 'sharp'])

/** Returns the files written, relative to `out`. */
export function writeSdkTypes(out) {
  const emitted = mkdtempSync(path.join(os.tmpdir(), 'dsh-sdk-'))
  try {
    const entries = packageEntries(emitted)
    emit(emitted, entries)
    for (const name of Object.keys(vendored)) entries.set(name, path.join(emitted, 'node', name, 'index.d.ts'))
    const entry = path.join(emitted, 'packages/host/cli/src/sdk.d.ts')
    rmSync(out, { recursive: true, force: true })
    const files = reachable(entry, entries).map((file) => {
      const name = path.relative(emitted, file)
      const text = withRelativeImports(file, readFileSync(file, 'utf8'), entries)
      mkdirSync(path.dirname(path.join(out, name)), { recursive: true })
      writeFileSync(path.join(out, name), text)
      return name
    })
    for (const [name, dir] of Object.entries(vendored)) {
      const licence = readdirSync(path.dirname(dir)).find((file) => /^licen[cs]e/i.test(file))
      if (licence === undefined) continue
      copyFileSync(path.join(path.dirname(dir), licence), path.join(out, 'node', name, 'LICENSE'))
    }
    return files
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

/** Where a dependency of the package in `from` is installed, by npm or by pnpm. */
function packageDir(name, from) {
  const below = createRequire(path.join(realpathSync(from), 'package.json')).resolve.paths(name) ?? []
  const found = below.map((modules) => path.join(modules, name)).find((dir) => existsSync(dir))
  if (found === undefined) throw new Error(`${name} is not installed`)
  return realpathSync(found)
}

function emit(out, entries) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const config = path.join(out, 'tsconfig.json')
  const entry = path.join(root, 'packages/host/cli/src/sdk.ts')
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    rootDir: root,
    outDir: out,
    typeRoots: [path.join(root, 'node_modules/@types')],
    // Through node_modules they would count as foreign code, which is not emitted.
    paths: Object.fromEntries([...entries].map(([name, file]) => [name, [sourceOf(file, out)]])),
  }
  const extended = path.join(root, 'tsconfig.base.json')
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, files: [entry] }))
  const done = spawnSync(process.execPath, [tsc, '-p', config], { cwd: root, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`tsc could not write the declarations of the sdk:\n${done.stdout}`)
  for (const [name, from] of Object.entries(vendored)) {
    for (const file of readdirSync(from).filter((one) => one.endsWith('.d.ts'))) {
      mkdirSync(path.join(out, 'node', name), { recursive: true })
      copyFileSync(path.join(from, file), path.join(out, 'node', name, file))
    }
  }
}

function sourceOf(declaration, out) {
  return path.join(root, path.relative(out, declaration)).replace(/\.d\.ts$/, '.ts')
}

/** What a bare specifier means: `@dsh/tools` → …/tools/src/index.d.ts. */
function packageEntries(emitted) {
  const entries = new Map()
  const dirs = ['vendor/cordis', ...readdirSync(path.join(root, 'packages')).flatMap(roomOf)]
  for (const dir of dirs) {
    const { name, exports } = JSON.parse(readFileSync(path.join(root, dir, 'package.json'), 'utf8'))
    const doors = typeof exports === 'string' ? { '.': exports } : (exports ?? {})
    for (const [door, target] of Object.entries(doors)) {
      if (typeof target === 'string' && target.endsWith('.ts')) {
        entries.set(path.posix.join(name, door), path.join(emitted, dir, target.replace(/\.ts$/, '.d.ts')))
      }
    }
  }
  return entries
}

function roomOf(room) {
  return readdirSync(path.join(root, 'packages', room)).map((name) => path.join('packages', room, name))
}

const specifiers = /(\bfrom |\bimport |\bimport\(|\bmodule )(['"])([^'"]+)\2/g

/** The file that a specifier in `file` names; undefined for a module of Node or one that the author brings. */
function target(file, specifier, entries) {
  if (specifier.startsWith('.')) {
    const plain = path.resolve(path.dirname(file), specifier).replace(/\.(ts|js)$/, '')
    const found = [`${plain}.d.ts`, path.join(plain, 'index.d.ts')].find(existsSync)
    if (found === undefined) throw new Error(`${file} imports ${specifier}, which is not there`)
    return found
  }
  const entry = entries.get(specifier)
  if (entry === undefined && !specifier.startsWith('node:') && !foreign.has(specifier)) {
    throw new Error(`${file} imports ${specifier}: a package whose types would be missing beside the sdk`)
  }
  return entry
}

function reachable(entry, entries) {
  const seen = new Set([entry])
  for (const file of seen) {
    for (const [, , , specifier] of readFileSync(file, 'utf8').matchAll(specifiers)) {
      const next = target(file, specifier, entries)
      if (next !== undefined) seen.add(next)
    }
  }
  return [...seen]
}

function withRelativeImports(file, text, entries) {
  return text.replace(specifiers, (whole, before, quote, specifier) => {
    const to = target(file, specifier, entries)
    if (to === undefined) return whole
    const relative = path.relative(path.dirname(file), to).replace(/\.d\.ts$/, '.js')
    return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`
  })
}
