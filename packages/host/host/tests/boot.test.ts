import { compose, readLayer } from '@dsh/compose'
import { type BootOptions, boot, type Host } from '@dsh/host'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'

declare module '@dsh/cordis' {
  interface Context {
    bootFoo: unknown
  }
}

const later = (ms = 5) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const stderr: string[] = []
const exits: number[] = []
const hosts: Host[] = []
const events: string[] = []

afterEach(async () => {
  for (const host of hosts.splice(0)) {
    host.shutdown.request(0)
    await host.shutdown.done
  }
  stderr.length = 0
  exits.length = 0
  events.length = 0
})

type Modules = Record<string, unknown>

async function start(yaml: string, modules: Modules, more: Partial<BootOptions> = {}): Promise<Host> {
  const host = await boot({
    composition: composed(yaml),
    load: async (name) => {
      if (name in modules) return modules[name]
      throw new Error(`Cannot find package '${name}'`)
    },
    provides: (name) => (modules[name] as { provides?: string[] } | undefined)?.provides ?? [],
    args: ['one', 'two'],
    environment: { get: () => undefined, getFrom: () => undefined },
    homePath: (...segments) => ['/home/dsh', ...segments].join('/'),
    logLevel: 'warn',
    stderr: (line) => stderr.push(line),
    exit: (code) => exits.push(code),
    ...more,
  })
  hosts.push(host)
  return host
}

const composed = (yaml: string) => compose([readLayer({ label: '/p.yml', kind: 'patch', file: '/p.yml', text: yaml })])
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => '(no failure)',
    (error: unknown) => (error as Error).message,
  )

const show = (name = 'show') => ({
  apply: async (_ctx: unknown, config: unknown) => {
    events.push(`${name} ${JSON.stringify(config)}`)
  },
})
const provider = (value: unknown = 'foo', ms = 0) => ({
  provides: ['bootFoo'],
  apply: async (ctx: any) => {
    if (ms > 0) await later(ms)
    ctx.provide('bootFoo', value)
    ctx.effect(() => () => {
      events.push('provider gone')
    })
  },
})

test('a row that needs a service starts after its provider, wherever it stands, and its config is evaluated then', async () => {
  const text = `
- insert:
    - {id: c, name: consumer, inject: [bootFoo], config: {v: !!js ctx.bootFoo, w: !!js "bootFoo + '!'"}}
    - {id: p, name: provider}
`
  await start(text, { consumer: show(), provider: provider('late', 20) })
  expect(events).toEqual(['show {"v":"late","w":"late!"}'])
})

test('expressions see the home, the environment and no require; whole values and nested ones', async () => {
  process.env['BOOT_TEST'] = 'e'
  const text = `
- insert:
    - {id: a, name: show, config: !!js "({n: [1 + 1]})"}
    - {id: b, name: show, config: {l: [!home x/y, !env BOOT_TEST, !!js dshHomePath('q'), !!js typeof require]}}
`
  await start(text, { show: show() })
  expect(events.sort()).toEqual(['show {"l":["/home/dsh/x/y","e","/home/dsh/q","undefined"]}', 'show {"n":[2]}'])
})

test('an expression that throws names its row, its text and where it is written', async () => {
  const text = '- insert:\n    - id: a\n      name: show\n      config:\n        v: !!js ctx.bootFoo'
  expect(await failure(start(text, { show: show() }))).toBe(
    'row a (show, /p.yml): cannot get property "bootFoo" without inject in !!js ctx.bootFoo (/p.yml:5)',
  )
})

test('a disabled row does not run; the decision may be an expression', async () => {
  const text = `
- insert:
    - {id: a, name: a, disabled: true}
    - {id: b, name: b, disabled: !!js "1 + 1 === 2"}
    - {id: c, name: c, disabled: !!js "1 + 1 === 3"}
`
  await start(text, { a: show('a'), b: show('b'), c: show('c') })
  expect(events).toEqual(['c undefined'])
})

test('every failing row is named with package, layer and reason, one line each, and what started is disposed', async () => {
  const text = `
- insert:
    - {id: p, name: provider}
    - {id: ghost, name: not-there}
    - {id: boom, name: boom}
    - {id: bad, name: strict, config: {n: abc, extra: {deep: 1}}}
    - {id: wait, name: show, inject: [bootBar]}
`
  const modules = {
    provider: provider(),
    show: show(),
    boom: {
      apply: async () => {
        throw new Error('boom from apply')
      },
    },
    strict: { Config: z.object({ n: z.number(), extra: z.object({ deep: z.string() }) }), apply: async () => {} },
  }
  expect((await failure(start(text, modules))).split('\n')).toEqual([
    "row ghost (not-there, /p.yml): Cannot find package 'not-there'",
    'row boom (boom, /p.yml): boom from apply',
    'row bad (strict, /p.yml): invalid config: Invalid input: expected number, received string (at n); Invalid input: expected string, received number (at extra.deep)',
    'row wait (show, /p.yml): waiting for service bootBar — no row of this composition provides it',
  ])
  expect(events).toEqual(['provider gone'])
  expect(stderr).toEqual([])
})

test.each([
  ['disabled: true', 'which is disabled'],
  ['config: {fail: true}', 'which failed'],
  ['inject: [bootBar]', 'which is waiting itself'],
  ['isolate: {bootFoo: true}', 'which runs in another realm'],
])('a missing service is traced to the row that would provide it: %s', async (state, reason) => {
  const text = `- insert:\n    - {id: c, name: show, inject: [bootFoo]}\n    - {id: p, name: provider, ${state}}`
  const failing = {
    provides: ['bootFoo'],
    apply: async (ctx: any, config: any) => {
      if (config?.fail) throw new Error('no')
      ctx.provide('bootFoo', 1)
    },
  }
  const lines = (await failure(start(text, { show: show(), provider: failing }))).split('\n')
  // What failed by itself is told first.
  expect(lines[reason === 'which failed' ? 1 : 0]).toBe(
    `row c (show, /p.yml): waiting for service bootFoo — provided by row p, ${reason}`,
  )
})

test('rows that only wait for rows told already share one line; a circle is told row by row', async () => {
  const text = `
- insert:
    - {id: c1, name: show, inject: [bootFoo]}
    - {id: c2, name: link, inject: [bootFoo]}
    - {id: c3, name: show, inject: [bootLink]}
    - {id: p, name: provider}
    - {id: other, name: show, inject: [bootBar]}
    - {id: both, name: show, inject: [bootFoo, bootBar]}
    - {id: left, name: left, inject: [bootRight]}
    - {id: right, name: right, inject: [bootLeft]}
`
  const modules = {
    show: show(),
    link: { provides: ['bootLink'], apply: async () => {} },
    left: { provides: ['bootLeft'], apply: async () => {} },
    right: { provides: ['bootRight'], apply: async () => {} },
    provider: {
      provides: ['bootFoo'],
      apply: async () => {
        throw new Error('no')
      },
    },
  }
  expect((await failure(start(text, modules))).split('\n')).toEqual([
    'row p (provider, /p.yml): no',
    'row other (show, /p.yml): waiting for service bootBar — no row of this composition provides it',
    'row both (show, /p.yml): waiting for services bootFoo — provided by row p, which failed, bootBar — no row of this composition provides it',
    'row left (left, /p.yml): waiting for service bootRight — provided by row right, which is waiting itself',
    'row right (right, /p.yml): waiting for service bootLeft — provided by row left, which is waiting itself',
    '3 rows are waiting for services of rows that do not run: c1, c2, c3',
  ])
})

test('a second provider of a service fails by name', async () => {
  const text = '- insert: [{id: one, name: provider}, {id: two, name: provider}]'
  expect(await failure(start(text, { provider: provider() }))).toContain(
    'service "bootFoo" has been registered at <one>',
  )
})

test('defaults of a schema are filled in', async () => {
  const module = { ...show(), Config: z.object({ a: z.number().default(7) }) }
  await start('- insert: [{id: a, name: m}, {id: b, name: m, config: {a: 1}}]', { m: module })
  expect(events.sort()).toEqual(['show {"a":1}', 'show {"a":7}'])
})

test('entry points: declarations are called, not constructed; classes are constructed; default exports win', async () => {
  function declared(ctx: any) {
    ctx.effect(() => () => {
      events.push('declared gone')
    })
    return later().then(() => {
      events.push('declared awaited')
    })
  }
  class Classy {
    constructor(_ctx: unknown, config: unknown) {
      events.push(`class ${JSON.stringify(config)}`)
    }
  }
  const text = `
- insert:
    - {id: a, name: declared}
    - {id: b, name: classy, config: {x: 1}}
    - {id: c, name: wrapped}
    - {id: d, name: method}
`
  await start(text, {
    declared: { apply: declared },
    classy: { default: Classy },
    wrapped: { default: { __esModule: true, default: async () => void events.push('wrapped') }, apply: async () => {} },
    method: {
      default: {
        apply() {
          events.push(`method ${typeof this}`)
        },
      },
    },
  })
  expect(events.sort()).toEqual(['class {"x":1}', 'declared awaited', 'method object', 'wrapped'])
})

test('a module without an entry point is refused', async () => {
  expect(await failure(start('- insert: [{id: a, name: m}]', { m: { name: 'x' } }))).toBe(
    'row a (m, /p.yml): invalid plugin, expect function or object with an "apply" method, received object; write: export async function apply(ctx, config) {}',
  )
})

test('groups carry their rows; a realm separates a service; the same label shares it', async () => {
  const text = `
- insert:
    - id: g
      name: cordis:group
      group: true
      isolate: {bootFoo: true}
      config:
        - {id: inner, name: provider}
        - {id: c, name: reader, inject: [bootFoo], config: {who: inside}}
    - {id: x, name: provider2, isolate: {bootFoo: shared}}
    - {id: y, name: reader, inject: [bootFoo], isolate: {bootFoo: shared}, config: {who: labelled}}
    - {id: o, name: reader, config: {who: outside}}
`
  const reader = {
    apply: async (ctx: any, config: any) => void events.push(`${config.who} ${ctx.get('bootFoo')}`),
  }
  await start(text, { provider: provider('in'), provider2: provider('shared'), reader })
  expect(events.sort()).toEqual(['inside in', 'labelled shared', 'outside undefined'])
})

test('a disabled group starts none of its rows, and an empty group is fine', async () => {
  const text = `
- insert:
    - {id: g, name: cordis:group, group: true, disabled: true, config: [{id: a, name: show}]}
    - {id: e, name: cordis:group, group: true}
`
  await start(text, { show: show() })
  expect(events).toEqual([])
})

test('an unknown builtin is named', async () => {
  expect(await failure(start('- insert: [{id: a, name: "cordis:hmr"}]', {}))).toBe(
    'row a (cordis:hmr, /p.yml): unknown builtin "cordis:hmr"',
  )
})

test('host facts are there without being injected', async () => {
  const module = {
    apply: async (ctx: any) => {
      events.push(
        JSON.stringify([ctx.cmdlineArgs.get(), Object.isFrozen(ctx.cmdlineArgs.get()), ctx.dshHomePath('a', 'b')]),
      )
    },
  }
  await start('- insert: [{id: a, name: m}]', { m: module })
  expect(events).toEqual(['[["one","two"],true,"/home/dsh/a/b"]'])
})

test('surfaces start after the audit, never in a boot that fails', async () => {
  const surface = {
    apply: async (ctx: any) => {
      ctx.hostReady.wait().then(() => events.push('surface'))
    },
  }
  await failure(start('- insert: [{id: s, name: s}, {id: w, name: s, inject: [nothing]}]', { s: surface }))
  await later(20)
  expect(events).toEqual([])
  await start('- insert: [{id: s, name: s}]', { s: surface })
  await later()
  expect(events).toEqual(['surface'])
})

test('an exit asked for while rows start ends the boot quietly, with the first code', async () => {
  const text = '- insert: [{id: a, name: quit}, {id: b, name: show, inject: [never]}]'
  const host = await start(text, {
    show: show(),
    quit: {
      apply: async (ctx: any) => {
        ctx.effect(() => () => {
          events.push('quit gone')
        })
        ctx.appExit(3)
        ctx.appExit(4)
      },
    },
  })
  expect(await host.shutdown.done).toBe(3)
  expect(events).toEqual(['quit gone'])
  expect(stderr).toEqual([])
})

test('log messages of rows wait for the audit and then go to stderr, one line each', async () => {
  const chatty = {
    apply: async (ctx: any) => {
      ctx.logger.info('not at warn level')
      ctx.logger.warn('careful')
      ctx.logger.error(new Error('outer', { cause: new Error('inner') }))
    },
  }
  await start('- insert: [{id: chatty, name: m}]', { m: chatty })
  expect(stderr).toEqual(['dsh: chatty: careful', 'dsh: chatty: inner', 'dsh: chatty: outer: inner'])
})

test('the provider of a service outlives its consumers when the program ends', async () => {
  const consumer = {
    inject: ['bootFoo'],
    apply: async (ctx: any) => {
      ctx.effect(() => async () => {
        await later(20)
        events.push(`consumer gone, had ${ctx.bootFoo}`)
      })
    },
  }
  const host = await start('- insert: [{id: c, name: c}, {id: p, name: p}]', { c: consumer, p: provider() })
  host.shutdown.request(0)
  await host.shutdown.done
  expect(events).toEqual(['consumer gone, had foo', 'provider gone'])
})

test('disposal is bounded: a disposer that hangs does not keep the program', async () => {
  const stuck = { apply: async (ctx: any) => void ctx.effect(() => () => later(300)) }
  const host = await start('- insert: [{id: a, name: m}]', { m: stuck }, { disposeLimitMs: 50 })
  host.shutdown.request(9)
  await later(120)
  expect(exits).toEqual([9])
  await host.shutdown.done
})

test('a second signal exits at once with its own code; the first one’s code is the first’s', async () => {
  const slow = { apply: async (ctx: any) => void ctx.effect(() => () => later(100)) }
  const host = await start('- insert: [{id: a, name: m}]', { m: slow })
  process.emit('SIGINT', 'SIGINT')
  process.emit('SIGTERM', 'SIGTERM')
  expect(exits).toEqual([143])
  expect(host.shutdown.code).toBe(130)
  expect(await host.shutdown.done).toBe(130)
})

test('a hang-up ends the program in order', async () => {
  const host = await start('- insert: [{id: a, name: m}]', { m: provider() })
  process.emit('SIGHUP', 'SIGHUP')
  expect(await host.shutdown.done).toBe(129)
  expect(events).toEqual(['provider gone'])
})
