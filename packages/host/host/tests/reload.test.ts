import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Composition, checkComposition, compose, readLayer } from '@dsh/compose'
import { boot, type Host, type ReloadOutcome } from '@dsh/host'
import { afterEach, beforeEach, expect, test } from 'vitest'

declare module '@dsh/cordis' {
  interface Context {
    reloadFoo: unknown
  }
}

const BASE = `
- insert:
    - {id: p, name: provider}
    - {id: s, name: show, config: {v: bundle}}
    - {id: c, name: consumer}
    - {id: surface, name: surface}
`
let dir: string
let file: string
let host: Host
const events: string[] = []
const outcomes: ReloadOutcome[] = []
const stderr: string[] = []
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const life = (name: string, extra: object = {}) => ({
  apply: async (ctx: any, config: any) => {
    events.push(`${name}+${config === undefined ? '' : JSON.stringify(config)}`)
    if (config?.fail) throw new Error(`${name} will not`)
    if (name === 'provider') ctx.provide('reloadFoo', 1)
    ctx.effect(() => () => {
      events.push(`${name}-`)
    })
  },
  ...extra,
})
/** A surface that does nothing but live, and asks for live changes. */
const surface = {
  apply: async (ctx: any) => {
    ctx.on('host/reload', (outcome: ReloadOutcome) => outcomes.push(outcome))
    ctx.hostReady.wait().then(() => ctx.hostReload.watch())
  },
}
const modules: Record<string, unknown> = {
  show: life('show'),
  other: life('other'),
  provider: life('provider', { provides: ['reloadFoo'] }),
  consumer: life('consumer', { inject: ['reloadFoo'] }),
  surface,
}

const readAll = (): Composition => {
  const layers = [readLayer({ label: 'bundle', kind: 'bundle', file: '/bundle.yml', text: BASE })]
  try {
    layers.push(readLayer({ label: file, kind: 'home', file, text: readFile() }))
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
  const composition = compose(layers)
  checkComposition(composition)
  return composition
}
const readFile = () => readFileSync(file, 'utf8')

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'reload-'))
  file = join(dir, 'cordis.patch.yml')
  for (const list of [events, outcomes, stderr]) list.length = 0
  host = await boot({
    composition: readAll(),
    load: async (name) => {
      if (name in modules) return modules[name]
      throw new Error(`Cannot find package '${name}'`)
    },
    provides: (name) => (modules[name] as { provides?: string[] })?.provides ?? [],
    args: [],
    environment: { get: () => undefined, getFrom: () => undefined },
    homePath: (...segments) => [dir, ...segments].join('/'),
    logLevel: 'silent',
    stderr: (line) => stderr.push(line),
    exit: () => {},
    reload: { files: [file], recompose: readAll },
  })
  events.length = 0
})
afterEach(async () => {
  host.shutdown.request(0)
  await host.shutdown.done
  rmSync(dir, { recursive: true, force: true })
})

async function edit(text: string | undefined): Promise<ReloadOutcome> {
  events.length = 0
  if (text === undefined) rmSync(file, { force: true })
  else writeFileSync(file, text)
  return host.ctx.hostReload.reload()
}

test('a change restarts the rows it names and leaves the others alone', async () => {
  expect(await edit('- {id: s, config: {v: user}}')).toEqual({ ok: true, changed: ['s'], notes: [] })
  expect(events).toEqual(['show-', 'show+{"v":"user"}'])
  expect(await edit('- {id: s, config: {v: user}}')).toEqual({ ok: true, changed: [], notes: [] })
  expect(events).toEqual([])
})

test('taking the override away, or the whole file, gives the bundle’s value back', async () => {
  await edit('- {id: s, config: {v: user}}')
  await edit('[]')
  expect(events).toEqual(['show-', 'show+{"v":"bundle"}'])
  await edit('- {id: s, config: {v: user}}')
  await edit(undefined)
  expect(events).toEqual(['show-', 'show+{"v":"bundle"}'])
})

test('rows are added, removed, disabled and enabled again', async () => {
  await edit('- insert: [{id: n, name: other}]')
  expect(events).toEqual(['other+'])
  await edit('- {id: s, remove: true}')
  expect(events.sort()).toEqual(['other-', 'show-'])
  await edit('- {id: s, disabled: true}')
  expect(events).toEqual([])
  await edit('')
  expect(events).toEqual(['show+{"v":"bundle"}'])
})

test('replacing a provider restarts what needs it', async () => {
  await edit('- {id: p, config: {x: 1}}')
  expect(events).toEqual(['consumer-', 'provider-', 'provider+{"x":1}', 'consumer+'])
})

test.each([
  ['a file that is no YAML', 'foo: [unclosed', 'invalid YAML'],
  ['a file that is no list', 'foo: bar', 'must be a list of patches'],
  ['a duplicate id', '- insert: [{id: s, name: show}]', 'duplicate row id "s"'],
  ['a package that is not there', '- insert: [{id: n, name: nowhere}]', "Cannot find package 'nowhere'"],
  ['a row that throws', '- {id: s, config: {fail: true}}', 'row s (show, bundle, '],
  [
    'a row that would wait for ever',
    '- insert: [{id: n, name: other, inject: [nothing]}]',
    'waiting for service nothing',
  ],
  ['taking away what others need', '- {id: p, disabled: true}', 'waiting for service reloadFoo — provided by row p'],
])('%s is rejected and the last good composition goes on', async (_what, text, reason) => {
  await edit('- {id: s, config: {v: good}}')
  const outcome = await edit(text)
  expect(outcome).toMatchObject({ ok: false })
  expect((outcome as { reason: string }).reason).toContain(reason)
  expect(host.rows.map((mounted) => [mounted.row.id, mounted.row.fields['config']])).toContainEqual([
    's',
    { v: 'good' },
  ])
  await edit('- {id: s, config: {v: again}}')
  expect(events).toEqual(['show-', 'show+{"v":"again"}'])
  expect(host.shutdown.code).toBeUndefined()
})

test('a patch that finds nothing is a note, not a rejection', async () => {
  expect(await edit('- {id: surfac, disabled: true}')).toEqual({
    ok: true,
    changed: [],
    notes: [`[${file}] patch: entry "surfac" not found — did you mean "surface"? (line 1)`],
  })
})

test('a surface that shows notices gets the outcomes and the diagnostics of rows, and stderr stays empty', async () => {
  const notices: string[] = []
  await edit('- {id: surface, disabled: true}')
  const off = host.ctx.on('host/notice', (text) => void notices.push(text))
  await edit('- {id: surface, disabled: true}\n- {id: s, config: {v: noticed}}')
  await edit('broken: [')
  off()
  expect(notices[0]).toBe('composition changed: s')
  expect(notices[1]).toMatch(/^change rejected, the last good composition stays: .*invalid YAML/)
  expect(stderr).toEqual([])
  await edit('broken: [[')
  expect(stderr).toHaveLength(1)
})

test('the surface hears of changes to the watched file, also when it appears and when it goes', async () => {
  await later(50)
  writeFileSync(file, '- {id: s, config: {v: seen}}')
  await waitFor(() => outcomes.length === 1)
  expect(outcomes[0]).toEqual({ ok: true, changed: ['s'], notes: [] })
  writeFileSync(file, 'broken: [')
  await waitFor(() => outcomes.length === 2)
  expect(outcomes[1]).toMatchObject({ ok: false })
  rmSync(file)
  await waitFor(() => outcomes.length === 3)
  expect(events.at(-1)).toBe('show+{"v":"bundle"}')
  expect(stderr).toEqual([])
})

async function waitFor(done: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000
  while (!done()) {
    if (Date.now() > deadline) throw new Error('nothing happened')
    await later(20)
  }
}
