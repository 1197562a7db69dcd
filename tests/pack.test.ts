import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { startMockServer } from '@dsh/llm-mock-server'
import { atTestEnd, tempWorkspace, type Workspace } from '@dsh/testkit'
import { beforeAll, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const run = promisify(execFile)

/** One tarball, installed with npm into an empty folder; `undefined` where no registry answers. */
let tarball: string
let place: Workspace
let installed: boolean

beforeAll(async () => {
  place = await tempWorkspace({ 'empty/.keep': '', 'ws/a.txt': 'needle\n', 'home/.keep': '' })
  const packed = await run(process.execPath, [path.join(root, 'scripts/pack.mjs'), place.path('packed')])
  tarball = packed.stdout.trim().split('\n').at(-1) ?? ''
  installed = await install()
}, 300_000)

async function install(): Promise<boolean> {
  try {
    const words = ['install', tarball, '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries', '0']
    await run('npm', words, { cwd: place.path('empty') })
    return true
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(stderr)) return false
    throw error
  }
}

function installedAt(...segments: string[]): string {
  return place.path(path.join('empty/node_modules/@dsh/cli', ...segments))
}

test('the tarball holds the program, its rows and its files, and nothing of how it is made', async () => {
  const { stdout } = await run('tar', ['tzf', tarball])
  const files = stdout.trim().split('\n')
  const kinds = [
    /^package\/(package\.json|README\.md|LICENSE)$/,
    /^package\/bin\/(dsh\.js|compiled\.js|package\.json)$/,
    /^package\/dist\/(main\.js|compiled\.bin)$/,
    /^package\/dist\/third-party\.txt$/,
    /^package\/dist\/[\w.-]+\.js$/,
    /^package\/dist\/rows\/[\w.-]+(\/[\w-]+)?\.js$/,
    /^package\/dist\/assets\/bundles\/[\w-]+\/(package\.json|cordis\.patch\.yml|layer\.json)$/,
    /^package\/dist\/assets\/configs\.json$/,
    /^package\/dist\/assets\/profiles\/[\w-]+\/(package\.json|cordis\.patch\.yml|pnpm-workspace\.yaml)$/,
    /^package\/dist\/assets\/landlock-run\/landlock-run-linux-(x64|arm64)$/,
    /^package\/docs\/[\w-]+\.md$/,
    /^package\/docs\/reference\/[\w-]+\.md$/,
    /^package\/fixtures\/fix-a-failing-test\/.+/,
    /^package\/dist\/sdk\/.*\.d\.ts$/,
    /^package\/dist\/sdk\/node\/.*\/LICENSE$/,
  ]
  expect(files.filter((file) => !kinds.some((kind) => kind.test(file)))).toEqual([])
  expect(kinds.filter((kind) => !files.some((file) => kind.test(file)))).toEqual([])
  const builtins = readFileSync(path.join(root, 'packages/host/cli/src/builtins.ts'), 'utf8')
  const rows = [...builtins.matchAll(/import\('@dsh\/([^']+)'\)/g)].map(([, name]) => `package/dist/rows/${name}.js`)
  expect(rows.filter((row) => !files.includes(row))).toEqual([])
  expect(statSync(tarball).size).toBeLessThan(3_000_000)
})

test('its manifest asks the registry for no package of this tree', async () => {
  const { stdout } = await run('tar', ['xzOf', tarball, 'package/package.json'])
  const manifest = JSON.parse(stdout)
  expect(manifest.scripts).toBeUndefined()
  expect(manifest.devDependencies).toBeUndefined()
  const asked = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }
  expect(Object.keys(asked).filter((name) => name.startsWith('@dsh/'))).toEqual([])
  expect(Object.keys(asked)).toContain('@vscode/ripgrep')
})

test('installed into an empty folder it works as `npx dsh`, with the search tools', async (context) => {
  if (!installed) context.skip('no package registry answers')
  const server = await startMockServer({
    steps: [{ calls: [{ name: 'grep', args: { pattern: 'needle' } }] }, { text: 'found it' }],
  })
  atTestEnd(() => server.close())
  const env = {
    PATH: process.env['PATH'],
    HOME: place.path('home'),
    DSH_HOME: place.path('home/.dsh'),
    DEEPSEEK_BASE_URL: server.url,
    DEEPSEEK_API_KEY: 'k',
  }
  const version = await run('npx', ['--no-install', 'dsh', '--version'], { cwd: place.path('empty'), env })
  expect(version.stdout).toBe(`${JSON.parse(readFileSync(installedAt('package.json'), 'utf8')).version}\n`)
  const dsh = place.path('empty/node_modules/.bin/dsh')
  const answer = await run(dsh, ['-p', 'find', 'it'], { cwd: place.path('ws'), env })
  expect(answer).toEqual({ stdout: 'found it\n', stderr: '' })
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('a.txt')
  const demo = await run(dsh, ['demo'], { cwd: place.path('ws'), env })
  expect(demo.stdout).toMatch(/The session came out as recorded.*Try your own: dsh --help\n$/)
}, 120_000)

test('its sdk types a plugin: the example compiles against them, and a mistake in it does not', async (context) => {
  if (!installed) context.skip('no package registry answers')
  const dir = place.path('empty/plugin')
  cpSync(path.join(root, 'examples/plugin-hello/src'), path.join(dir, 'src'), { recursive: true })
  mkdirSync(place.path('empty/node_modules/@types'), { recursive: true })
  const nodeTypes = realpathSync(path.join(root, 'node_modules/@types/node'))
  const types = {
    zod: path.join(root, 'node_modules/zod'),
    '@types/node': nodeTypes,
    // Beside the one that needs it, wherever a package manager put that.
    'undici-types': path.join(nodeTypes, '../../undici-types'),
  }
  for (const [name, from] of Object.entries(types)) {
    try {
      symlinkSync(realpathSync(from), place.path(`empty/node_modules/${name}`))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  const example = readFileSync(path.join(dir, 'src/index.ts'), 'utf8')
  const wrong = example.replace("description: 'Greets somebody by name.'", 'description: 7')
  expect(wrong).not.toBe(example)
  writeFileSync(path.join(dir, 'src/wrong.ts'), wrong)
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'ES2023',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
    },
    include: ['src'],
  }
  writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}')
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', dir]).catch((failed) => failed)
  const complaints = stdout.split('\n').filter((line: string) => line.includes('error TS'))
  expect(complaints).toEqual([expect.stringMatching(/^.*src\/wrong\.ts\(\d+,\d+\): error TS2322: .*number.*string/)])
}, 120_000)
