import { readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { expect, test } from 'vitest'
import { layers, sideways } from './layers.ts'

const root = path.resolve(import.meta.dirname, '..')

interface Package {
  readonly name: string
  readonly dir: string
  readonly manifest: {
    readonly name: string
    readonly dependencies?: Record<string, string>
    readonly devDependencies?: Record<string, string>
    readonly optionalDependencies?: Record<string, string>
    readonly peerDependencies?: Record<string, string>
  }
}
interface Import {
  readonly file: string
  readonly from: string
  readonly typeOnly: boolean
}

const packages = ['vendor', 'bundles', ...subdirectories('packages').map((room) => `packages/${room}`)]
  .flatMap((parent) => subdirectories(parent).map((name) => path.join(root, parent, name)))
  .map((dir): Package => {
    const manifest = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'))
    return { name: short(manifest.name), dir, manifest }
  })

function subdirectories(dir: string): string[] {
  const names = readdirSync(path.join(root, dir))
  return names.filter((name) => statSync(path.join(root, dir, name)).isDirectory())
}

function short(specifier: string): string {
  return specifier.replace(/^@dsh\//, '')
}

function sources(dir: string): string[] {
  const src = path.join(dir, 'src')
  try {
    return readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(src, name))
  } catch {
    return []
  }
}

/** Static imports, re-exports, dynamic imports and `declare module` of packages; `node:` and relative ones left out. */
function importsOf(file: string): Import[] {
  const code = readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
  const found: Import[] = []
  const add = (from: string, typeOnly: boolean) => {
    if (!from.startsWith('.') && !from.startsWith('node:') && !builtinModules.includes(from))
      found.push({ file, from, typeOnly })
  }
  for (const [, , what, from] of code.matchAll(/^\s*(import|export)\s+([^'";]*?)from\s+'([^']+)'/gm)) {
    const names = /^\{([\s\S]*)\}\s*$/
      .exec((what ?? '').trim())?.[1]
      ?.split(',')
      .map((n) => n.trim())
      .filter((n) => n !== '')
    add(
      from as string,
      /^type\s/.test((what ?? '').trim()) ||
        (names !== undefined && names.length > 0 && names.every((n) => n.startsWith('type '))),
    )
  }
  for (const [, from] of code.matchAll(/^\s*import\s+'([^']+)'/gm)) add(from as string, false)
  for (const [, from] of code.matchAll(/\bimport\('([^']+)'\)(?!\.)/g)) add(from as string, false)
  for (const [, from] of code.matchAll(/\bimport\('([^']+)'\)\./g)) add(from as string, true)
  for (const [, from] of code.matchAll(/^declare module '([^']+)'/gm)) add(from as string, true)
  return found
}

const imports = packages.flatMap((pkg) =>
  sources(pkg.dir).flatMap((file) => importsOf(file).map((one) => ({ pkg, ...one }))),
)

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] as string)
}

function layerOf(name: string): number {
  return layers.findIndex((layer) => layer.packages.includes(name))
}

function where(one: Import): string {
  return `${path.relative(root, one.file)} imports ${one.from}`
}

test('every package stands in exactly one layer, and every layer names only packages that exist', () => {
  const placed = layers.flatMap((layer) => layer.packages)
  expect([...placed].sort()).toEqual(packages.map((pkg) => pkg.name).sort())
})

test('a package imports only what its package.json declares', () => {
  const undeclared = imports.filter(({ pkg, from }) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies, name } = pkg.manifest
    // The command bundles its rows: they are its devDependencies.
    const declared = {
      ...dependencies,
      ...optionalDependencies,
      ...peerDependencies,
      ...(name === '@dsh/cli' ? devDependencies : {}),
    }
    return packageOf(from) !== name && !(packageOf(from) in declared)
  })
  expect(undeclared.map(where)).toEqual([])
})

test('a package declares only what it imports', () => {
  const idle = packages.flatMap((pkg) => {
    if (pkg.name === 'cli' || pkg.name.startsWith('bundle-')) return []
    const used = new Set(imports.filter((one) => one.pkg === pkg).map((one) => packageOf(one.from)))
    // A package that is located instead of imported, as ripgrep's binary is.
    const located = sources(pkg.dir)
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
    return Object.keys(pkg.manifest.dependencies ?? {})
      .filter((name) => !used.has(name) && !located.includes(`'${name}`))
      .map((name) => `${pkg.name} declares ${name}`)
  })
  expect(idle).toEqual([])
})

test('values are imported only from lower layers, types also from the same one', () => {
  const wrong = imports.filter(({ pkg, from, typeOnly }) => {
    if (!from.startsWith('@dsh/') || packageOf(from) === pkg.manifest.name) return false
    const target = short(packageOf(from))
    const [own, other] = [layerOf(pkg.name), layerOf(target)]
    if (other < own || (typeOnly && other === own)) return false
    return !sideways.includes(`${pkg.name} → ${target}`)
  })
  expect(wrong.map(where)).toEqual([])
})

test('the framework is imported through its one door', () => {
  const direct = imports.filter(({ pkg, from }) => packageOf(from) === 'cordis' && pkg.name !== 'cordis')
  expect(direct.map(where)).toEqual([])
})
