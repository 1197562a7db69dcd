import { Context, createScope, FiberPhase, notify, Service, scopeOf, scopeTarget } from '@dsh/cordis'
import { expect, test } from 'vitest'

declare module '@dsh/cordis' {
  interface Context {
    edgeDb: { name: string }
    edgeTools: EdgeTools
  }
  interface Events {
    'edge/fact'(word: string): void
  }
}

const later = (ms = 5) => new Promise<void>((resolve) => setTimeout(resolve, ms))

class EdgeTools extends Service {
  readonly owners: (object | undefined)[] = []
  constructor(ctx: Context) {
    super(ctx, 'edgeTools')
  }
  register() {
    const owner = scopeOf(this.ctx)
    return this.ctx.effect(() => {
      this.owners.push(owner)
      return () => {
        this.owners.splice(this.owners.indexOf(owner), 1)
      }
    })
  }
}

test('an effect that a disposer registers while its fiber unloads is refused', async () => {
  const ctx = new Context()
  let refusal: unknown
  const fiber = ctx.plugin({
    apply: async (inner: Context) => {
      inner.effect(() => () => {
        try {
          inner.on('edge/fact', () => {})
        } catch (error) {
          refusal = error
        }
      })
    },
  })
  await fiber
  await fiber.dispose()
  expect(String(refusal)).toContain('inactive context')
})

test('nothing can be registered on the root while it is disposed', async () => {
  const ctx = new Context()
  let refusal: unknown
  ctx.plugin({
    apply: async (inner: Context) => {
      inner.effect(() => async () => {
        await later()
        try {
          ctx.on('edge/fact', () => {})
        } catch (error) {
          refusal = error
        }
      })
    },
  })
  await later()
  await ctx.fiber.dispose()
  expect(String(refusal)).toContain('inactive context')
})

test('disposal waits for an async cleanup that somebody started earlier', async () => {
  const ctx = new Context()
  const steps: string[] = []
  let undo: () => unknown = () => {}
  const fiber = ctx.plugin({
    apply: async (inner: Context) => {
      undo = inner.effect(() => async () => {
        await later(20)
        steps.push('cleaned')
      })
    },
  })
  await fiber
  void undo()
  await fiber.dispose()
  steps.push('disposed')
  expect(steps).toEqual(['cleaned', 'disposed'])
})

test('an outer effect joins an inner disposer that is already running', async () => {
  const ctx = new Context()
  const steps: string[] = []
  let inner: () => unknown = () => {}
  const outer = ctx.effect(function* () {
    inner = ctx.effect(() => async () => {
      await later(20)
      steps.push('inner')
    })
    yield inner as never
  })
  void inner()
  await outer()
  steps.push('outer')
  expect(steps).toEqual(['inner', 'outer'])
})

test('a disposer runs once however often it is called', async () => {
  const ctx = new Context()
  let runs = 0
  const undo = ctx.effect(() => async () => {
    runs++
  })
  await Promise.all([undo(), undo()])
  await undo()
  expect(runs).toBe(1)
})

test('an effect whose setup ends its own fiber is still cleaned up', async () => {
  const ctx = new Context()
  let cleaned = false
  const fiber = ctx.plugin({
    apply: async (inner: Context) => {
      setTimeout(() => {
        inner.effect(() => {
          void fiber.dispose()
          return () => {
            cleaned = true
          }
        })
      }, 1)
    },
  })
  await fiber
  await later(20)
  expect(cleaned).toBe(true)
})

test("a throwing observer of cordis' own events does not stop a disposal", async () => {
  const ctx = new Context()
  let cleaned = false
  const fiber = ctx.plugin({
    apply: async (inner: Context) => {
      inner.effect(() => () => {
        cleaned = true
      })
    },
  })
  await fiber
  ctx.on('internal/plugin', () => {
    throw new Error('observer')
  })
  await fiber.dispose()
  expect(cleaned).toBe(true)
  expect(Object.getPrototypeOf(fiber).state).toBe(FiberPhase.disposed)
})

test('a fiber that failed with one provider starts again with another', async () => {
  const ctx = new Context()
  const seen: string[] = []
  const provider = (name: string) => ({
    name,
    apply: async (inner: Context) => {
      inner.provide('edgeDb', { name })
    },
  })
  const first = ctx.plugin(provider('first'))
  await first
  const consumer = ctx.plugin({
    inject: ['edgeDb'],
    apply: async (inner: Context) => {
      seen.push(inner.edgeDb.name)
      if (inner.edgeDb.name === 'first') throw new Error('not with this one')
    },
  })
  await expect(consumer.then(() => {})).rejects.toThrow('not with this one')
  await first.dispose()
  await ctx.plugin(provider('second'))
  await later()
  expect(seen).toEqual(['first', 'second'])
  expect(Object.getPrototypeOf(consumer).state).toBe(FiberPhase.active)
})

test("a provider's cleanup starts after its consumers' cleanup has ended", async () => {
  const ctx = new Context()
  const steps: string[] = []
  ctx.plugin({
    apply: async (inner: Context) => {
      inner.provide('edgeDb', { name: 'db' })
      inner.effect(() => () => {
        steps.push('provider closed')
      })
    },
  })
  ctx.plugin({
    inject: ['edgeDb'],
    apply: async (inner: Context) => {
      inner.effect(() => async () => {
        await later(20)
        steps.push(`consumer closed with ${inner.edgeDb.name}`)
      })
    },
  })
  await later()
  await ctx.fiber.dispose()
  expect(steps).toEqual(['consumer closed with db', 'provider closed'])
})

test('a fact reaches every listener, whatever the others do', async () => {
  const ctx = new Context()
  const heard: string[] = []
  ctx.on('edge/fact', () => {
    throw new Error('sync')
  })
  ctx.on('edge/fact', (async () => {
    throw new Error('async')
  }) as never)
  ctx.on('edge/fact', (word) => {
    heard.push(word)
  })
  notify(ctx, 'edge/fact', 'hello')
  await later()
  expect(heard).toEqual(['hello'])
})

test('a registration through a scope belongs to its owner and ends with the scope', async () => {
  const ctx = new Context()
  let service: EdgeTools | undefined
  ctx.plugin({
    apply: async (inner: Context) => {
      service = new EdgeTools(inner)
    },
  })
  await later()
  const agent = {}
  const user = ctx.plugin({
    inject: ['edgeTools'],
    apply: async (inner: Context) => {
      inner.edgeTools.register()
      const scope = await createScope(inner, agent)
      scope.ctx.edgeTools.register()
      inner.effect(() => () => scope.dispose())
    },
  })
  await user
  expect(service?.owners).toEqual([undefined, agent])
  await user.dispose()
  expect(service?.owners).toEqual([])
})

test('an event about one owner is heard by everybody outside scopes and by that owner, not by another', async () => {
  const ctx = new Context()
  const heard: string[] = []
  const [a, b] = [{}, {}]
  const scopeA = await createScope(ctx, a)
  const scopeB = await createScope(ctx, b)
  ctx.on('edge/fact', () => void heard.push('all'))
  scopeA.ctx.on('edge/fact', () => void heard.push('a'))
  scopeB.ctx.on('edge/fact', () => void heard.push('b'))
  notify(ctx, scopeTarget(a), 'edge/fact', 'x')
  expect(heard).toEqual(['all', 'a'])
})

test('using a service makes no error; asking for one that is not there throws one that names it', async () => {
  const ctx = new Context()
  ctx.provide('edgeDb', { name: 'one' })
  const made: string[] = []
  let use: (() => string) | undefined
  let misuse: (() => unknown) | undefined
  await ctx.plugin({
    inject: ['edgeDb'],
    apply: async (inner: Context) => {
      use = () => inner.edgeDb.name + String(inner.get('edgeDb')?.name)
      misuse = () => inner.edgeTools
    },
  })
  const Real = globalThis.Error
  globalThis.Error = class extends Real {
    constructor(message?: string) {
      super(message)
      made.push(message ?? '')
    }
  } as ErrorConstructor
  try {
    expect(use?.()).toBe('oneone')
    expect(made).toEqual([])
    expect(misuse).toThrow('cannot get property "edgeTools" without inject')
  } finally {
    globalThis.Error = Real
  }
  expect(made.length).toBeGreaterThan(0)
})

test('a service as a context uses it is one object, and speaks for that context alone', async () => {
  const ctx = new Context()
  const tools = new EdgeTools(ctx)
  const seen: EdgeTools[] = []
  const owners: object[] = [{ name: 'first' }, { name: 'second' }]
  for (const owner of owners) {
    const scope = await createScope(ctx, owner)
    const one = scope.ctx.edgeTools
    expect(scope.ctx.edgeTools).toBe(one)
    expect(scope.ctx.get('edgeTools')).toBe(one)
    one.register()
    one.register()
    seen.push(one)
  }
  expect(seen[0]).not.toBe(seen[1])
  expect(tools.owners).toEqual([owners[0], owners[0], owners[1], owners[1]])
})

test('a method that is replaced is replaced for every context that used the old one', async () => {
  const ctx = new Context()
  const tools = new EdgeTools(ctx)
  const { ctx: inner } = await createScope(ctx, {})
  const dispose = inner.edgeTools.register()
  tools.register = () => dispose
  expect(inner.edgeTools.register()).toBe(dispose)
  expect(tools.owners).toHaveLength(1)
})

test('listeners hear services as their own context uses them', async () => {
  const ctx = new Context()
  new EdgeTools(ctx)
  const heard: unknown[] = []
  const { ctx: inner } = await createScope(ctx, {})
  inner.on('edge/fact', (word) => void heard.push(word))
  ctx.emit('edge/fact', ctx.edgeTools as never)
  expect(heard).toHaveLength(1)
  expect(heard[0] === inner.edgeTools).toBe(true)
})
