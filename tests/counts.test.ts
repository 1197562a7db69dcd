import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { atTestEnd, tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'

/** What costs time, counted instead of timed: a count fails on any machine, at any load, for the change that caused it. */
const dsh = path.resolve(import.meta.dirname, '../packages/host/cli/bin/dsh.js')

/** Counts modules loaded barriers to disk and characters of JSON written in the program itself, and says all on exit. */
const probe = `
import { appendFileSync } from 'node:fs'
import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { register } from 'node:module'
const out = process.env.COUNTS_FILE
register('data:text/javascript,' + encodeURIComponent(
  'import { appendFileSync } from "node:fs";' +
  'export async function load(url, context, next) {' +
  '  appendFileSync(' + JSON.stringify(out) + ', "module " + url + "\\\\n"); return next(url, context) }'))
let syncs = 0
const count = (object, names) => {
  for (const name of names) {
    const real = object[name]
    if (typeof real === 'function') object[name] = function (...args) { syncs++; return real.apply(this, args) }
  }
}
count(fs, ['fsync', 'fsyncSync', 'fdatasync', 'fdatasyncSync'])
const handle = await open(process.execPath)
count(Object.getPrototypeOf(handle), ['sync', 'datasync'])
await handle.close()
let serialised = 0
const { stringify } = JSON
JSON.stringify = function (...args) {
  const text = stringify.apply(this, args)
  serialised += text?.length ?? 0
  return text
}
process.on('exit', () => appendFileSync(out, 'counts ' + syncs + ' ' + serialised + '\\n'))
`

async function counted(words: readonly string[], steps: readonly MockStep[] = []) {
  const place = await tempWorkspace({ 'probe.mjs': probe, 'ws/a.txt': 'a\n', 'ws/b.txt': 'b\n' })
  const server = await startMockServer({ steps: steps.length === 0 ? [{ text: 'hello' }] : steps })
  atTestEnd(() => server.close())
  const env = {
    PATH: process.env['PATH'],
    HOME: place.root,
    DSH_HOME: place.path('home'),
    DEEPSEEK_BASE_URL: server.url,
    DEEPSEEK_API_KEY: 'k',
    COUNTS_FILE: place.path('counts'),
    // The compiled program has the same chunks but no modules to count.
    DSH_COMPILED: '0',
  }
  const child = spawn(process.execPath, ['--import', place.path('probe.mjs'), dsh, ...words], {
    cwd: place.path('ws'),
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code).toBe(0)
  const lines = (await place.read('counts')).trim().split('\n')
  return {
    modules: lines.filter((line) => line.startsWith('module file:')).map((line) => line.replace(/^.*\/dist\//, '')),
    syncs: Number(lines.at(-1)?.split(' ')[1]),
    serialised: Number(lines.at(-1)?.split(' ')[2]),
    requests: server.requests,
  }
}

const reads = (count: number): MockStep[] => [
  ...Array.from({ length: count }, (_, at) => ({
    calls: [{ name: 'read', args: { file_path: at % 2 === 0 ? 'a.txt' : 'b.txt' } }],
  })),
  { text: 'done' },
]

test('--help and --version load the entry and a handful of chunks, and no row', async () => {
  for (const flag of ['--help', '--version']) {
    const { modules } = await counted([flag])
    expect(modules.length, modules.join(' ')).toBeLessThanOrEqual(8)
    expect(modules.filter((name) => name.startsWith('rows/'))).toEqual([])
  }
})

/** Runs the compiled program on the model given, and then `after`; gives what it said. */
async function compiled(words: readonly string[], after = '') {
  const server = await startMockServer({ steps: [{ text: 'hello' }] })
  atTestEnd(() => server.close())
  const place = await tempWorkspace({
    'run.mjs': `
import compiled from ${JSON.stringify(path.join(path.dirname(dsh), 'compiled.js'))}
const load = compiled.openCompiled(${JSON.stringify(path.resolve(dsh, '../../dist'))}, (name, script) => {
  console.log('chunk', name, script.cachedDataRejected)
})
process.argv.push(...${JSON.stringify(words)})
load('main.js')
console.log('chunk of the entry: that was the last')
${after}
`,
  })
  const child = spawn(process.execPath, [place.path('run.mjs')], {
    env: {
      PATH: process.env['PATH'],
      HOME: place.root,
      DSH_HOME: place.path('home'),
      DEEPSEEK_BASE_URL: server.url,
      DEEPSEEK_API_KEY: 'k',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (data) => {
    said += data
  })
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  return said
}

test('the compiled program runs, and V8 takes every piece of code that was stored for this version of it', async () => {
  const said = await compiled(
    ['--profile', 'headless', '--dump-config'],
    `const thrown = await load('rows/headless.js').apply({ get: () => { throw new Error('late') } }).catch((error) => error)
console.log(load.frame(thrown.stack))`,
  )
  expect(said).toContain('@dsh/agent-loop')
  expect(said).toMatch(/at Object\.apply \(dsh:\/rows\/headless\.js:\d+:\d+\)/)
  const chunks = said.split('\n').filter((line) => line.startsWith('chunk '))
  expect(chunks.some((line) => line.endsWith(' false'))).toBe(true)
  expect(chunks.filter((line) => line.endsWith(' true'))).toEqual([])
})

test('one answer needs the entry and one script more: no option parser, no YAML, no schemas', async () => {
  const said = await compiled(['-p', 'hi'], 'console.log(`together ${load.together.join(" ")}`)')
  expect(said).toContain('hello')
  const afterEntry = said.slice(said.indexOf('chunk of the entry'))
  expect(afterEntry.match(/^chunk \S+\.js/gm)).toEqual(['chunk start.js'])
  const together = /^together (.*)$/m.exec(said)?.[1]?.split(' ') ?? []
  expect(together).toContain('rows/agent-loop.js')
  for (const name of together) {
    const text = await readFile(path.resolve(dsh, '../../dist', name), 'utf8')
    expect(text.match(/CommanderError\d*=class|YAMLParseError\d*=class|\$constructor\("\$ZodType"/g), name).toBeNull()
  }
})

test('one answer loads its rows once, and neither the terminal, nor images, nor the process library', async () => {
  const { modules } = await counted(['-p', 'hi'])
  expect(modules.length, modules.join(' ')).toBeLessThanOrEqual(85)
  expect(modules.filter((name) => /terminal|sharp|execa|undici/.test(name))).toEqual([])
  expect(new Set(modules).size).toBe(modules.length)
})

test('a step costs at most two barriers to disk, however long the session is', async () => {
  const short = await counted(['-p', 'go'], reads(4))
  const long = await counted(['-p', 'go'], reads(24))
  expect((long.syncs - short.syncs) / 20).toBeLessThanOrEqual(2)
  expect(short.syncs).toBeGreaterThan(4)
}, 60_000)

test('what a step serialises does not grow with the session', async () => {
  const [short, middle, long] = [
    await counted(['-p', 'go'], reads(4)),
    await counted(['-p', 'go'], reads(24)),
    await counted(['-p', 'go'], reads(44)),
  ]
  const early = (middle.serialised - short.serialised) / 20
  const late = (long.serialised - middle.serialised) / 20
  expect(early).toBeGreaterThan(500)
  expect(early).toBeLessThanOrEqual(6_000)
  expect(late).toBeLessThanOrEqual(early * 1.1)
}, 60_000)

test('the first request of the default composition stays small, and later ones begin with its bytes', async () => {
  const { requests } = await counted(['-p', 'go'], reads(3))
  const bodies = requests.map((request) => request.body)
  expect(Buffer.byteLength(JSON.stringify(bodies[0]))).toBeLessThanOrEqual(20_000)
  for (const [at, body] of bodies.entries()) {
    const before = bodies[at - 1]
    if (before === undefined) continue
    expect(body.tools).toEqual(before.tools)
    expect(body.messages.slice(0, before.messages.length)).toEqual(before.messages)
  }
})
