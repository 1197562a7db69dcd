import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compose, type Layer, readLayer } from '@dsh/compose'
import { DshError, lazySchema } from '@dsh/core'
import { boot, type LoadModule } from '@dsh/host'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'

/** What a boot says that fails with this one row. */
async function told(row: string, load: LoadModule, patches: readonly Layer[] = []): Promise<string> {
  const text = `- insert: [${row}]`
  const failed = boot({
    composition: compose([readLayer({ label: '/p.yml', kind: 'patch', file: '/p.yml', text }), ...patches]),
    load,
    provides: () => [],
    args: [],
    environment: { get: () => undefined, getFrom: () => undefined },
    homePath: (...segments) => ['/home/dsh', ...segments].join('/'),
    logLevel: 'warn',
    stderr: () => {},
    exit: () => {},
  })
  return failed.then(
    () => '(no failure)',
    (error: Error) => error.message,
  )
}

const throwing =
  (error: Error): LoadModule =>
  async () => {
    throw error
  }

test('a row file that is no JavaScript is told with its line', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'dsh-load-'))
  const file = path.join(dir, 'bad.mjs')
  writeFileSync(file, 'export const a = 1\nexport const b = = 2\n')
  const unparsed = new SyntaxError("Unexpected token '='")
  expect(await told(`{id: a, name: ${file}}`, throwing(unparsed))).toBe(
    `row a (${file}, /p.yml): Unexpected token '=' (${file}:2)`,
  )
  const whole = path.join(dir, 'whole.mjs')
  writeFileSync(path.join(dir, 'between.mjs'), "export * from\n  './bad.mjs'\n")
  writeFileSync(whole, "import { a } from './between.mjs'\nexport const apply = () => a\n")
  expect(await told(`{id: a, name: ${whole}}`, throwing(unparsed))).toContain(`(${file}:2)`)
  const unlinked = new SyntaxError("The requested module './b.mjs' does not provide an export named 'q'")
  unlinked.stack = `file:///x/a%20b.mjs:3\nimport {q} from './b.mjs'\n        ^\n${unlinked.stack}`
  expect(await told(`{id: a, name: ${file}}`, throwing(unlinked))).toContain(`an export named 'q' (/x/a b.mjs:3)`)
  rmSync(dir, { recursive: true })
})

test('a row file that throws when it starts is told with the line that threw', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'dsh load-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = path.join(dir, 'throws.mjs')
  const code = 'export function apply() {\n  const none = undefined\n  none.at()\n}\n'
  writeFileSync(file, code)
  const load: LoadModule = (name) => import(/* @vite-ignore */ pathToFileURL(name).href)
  expect(await told(`{id: a, name: '${file}'}`, load)).toMatch(/'at'\) \(\/.*\/throws\.mjs:3\)$/)
  const own = { apply: () => Promise.reject(new DshError('MINE', 'in words')) }
  expect(await told(`{id: a, name: '${file}'}`, async () => own)).toMatch(/: in words$/)
})

test('a package that is not installed is told with the command that installs it', async () => {
  const missing = (from: string) =>
    Object.assign(new Error(`Cannot find package '@my/nope' imported from ${from}`), { code: 'ERR_MODULE_NOT_FOUND' })
  const row = '{id: a, name: "@my/nope"}'
  expect(await told(row, throwing(missing('/home/dsh/profiles/mine/.dsh-anchor.mjs')))).toBe(
    'row a (@my/nope, /p.yml): cannot find package "@my/nope"; install it: dsh plugin --profile mine add @my/nope',
  )
  expect(await told(row, throwing(missing('/rows/mine.mjs')))).toContain('imported from /rows/mine.mjs')
})

test('an unknown key of a config is told with the key that is near', async () => {
  const Config = lazySchema(() =>
    z.strictObject({ readLimit: z.number().optional(), on: z.strictObject({ deep: z.number() }).optional() }),
  )
  const config = (text: string) => told(`{id: a, name: m, config: ${text}}`, async () => ({ Config, apply: () => {} }))
  expect(await config('{readLimt: 5}')).toContain(
    'invalid config: Unrecognized key: "readLimt" — did you mean "readLimit"?',
  )
  expect(await config('{on: {deep: 1, dep: 2}}')).toContain('Unrecognized key: "dep" — did you mean "deep"? (at on)')
  expect(await config('{other: 5}')).toMatch(/Unrecognized key: "other" — it takes readLimit, on$/)
})

test('a bad value that a variable or an expression gave is told with where it comes from', async () => {
  const Config = z.object({ n: z.number().optional(), mode: z.enum(['a', 'b']).optional() })
  const config = (text: string) => told(`{id: a, name: m, config: ${text}}`, async () => ({ Config, apply: () => {} }))
  process.env['DSH_TEST_MODE'] = 'c'
  onTestFinished(() => void delete process.env['DSH_TEST_MODE'])
  const why = 'Invalid option: expected one of "a"|"b"'
  expect(await config('{mode: !env DSH_TEST_MODE}')).toContain(`${why} (at mode, from DSH_TEST_MODE)`)
  expect(await config('{mode: !!js process.env.DSH_TEST_MODE}')).toContain(`${why} (at mode, from DSH_TEST_MODE)`)
  expect(await config(`{n: !!js "process.env['DSH_TEST_NONE'] ?? '3'"}`)).toContain(
    '(at n, from DSH_TEST_NONE, which is not set)',
  )
  expect(await config(`{n: !!js "'x' + 1"}`)).toContain("(at n, from !!js 'x' + 1)")
  expect(await config('{n: !home x}')).toContain('(at n, from !home x)')
})

test('a patch that gave a row its bad config is named with its line', async () => {
  const text = '- id: a\n  config: {n: x}\n'
  const patch = readLayer({ label: '/q.yml', kind: 'patch', file: '/q.yml', text: `# of mine\n${text}` })
  const Config = z.object({ n: z.number() })
  expect(await told('{id: a, name: m}', async () => ({ Config, apply: () => {} }), [patch])).toMatch(
    /^row a \(m, \/p\.yml, \/q\.yml:2\): invalid config: /,
  )
})
