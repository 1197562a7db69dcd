import { type Composition, checkComposition, compose, dumpJson, readPatches } from '@dsh/compose'
import type { Context } from '@dsh/cordis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boot } from '../src/index.ts'

const id = fc.constantFrom('a', 'b', 'c', 'd')
const config = fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
const row = fc.record(
  { id, name: fc.constantFrom('p', 'q'), config, disabled: fc.boolean() },
  { requiredKeys: ['id', 'name'] },
)
const group = fc.record(
  {
    id: fc.constant('g'),
    name: fc.constant('cordis:group'),
    group: fc.constant(true),
    config: fc.array(row, { maxLength: 2 }),
    disabled: fc.boolean(),
  },
  { requiredKeys: ['id', 'name', 'group', 'config'] },
)
const patch = fc.oneof(
  fc.record({ insert: fc.array(fc.oneof(row, group), { maxLength: 3 }) }),
  fc.record({ id, config, disabled: fc.boolean() }, { requiredKeys: ['id'] }),
  fc.record({ id, merge: config }),
  fc.record({ id, remove: fc.constant(true) }),
)
const layers = fc.array(fc.array(patch, { maxLength: 6 }), { minLength: 1, maxLength: 3 })

interface DumpedRow {
  readonly id: string
  readonly disabled?: unknown
  readonly group?: boolean
  readonly config?: unknown
}

/** What a dump says will run: the enabled rows with their configs, groups opened. */
function running(rows: readonly DumpedRow[]): string[] {
  return rows.flatMap((entry) => {
    if (entry.disabled) return []
    if (entry.group) return running(entry.config as DumpedRow[])
    return [`${entry.id} ${JSON.stringify(entry.config ?? null)}`]
  })
}

function dumped(composition: Composition): readonly DumpedRow[] {
  const document = JSON.parse(dumpJson(composition)) as { rows?: DumpedRow[] } | DumpedRow[]
  return Array.isArray(document) ? document : (document.rows ?? [])
}

test('what a dump shows is what is mounted', async () => {
  await fc.assert(
    fc.asyncProperty(layers, async (lists) => {
      const composition = compose(
        lists.map((list, i) => readPatches({ label: `/l${i}.yml`, kind: 'patch', file: `/l${i}.yml` }, list)),
      )
      try {
        checkComposition(composition)
      } catch {
        return fc.pre(false)
      }
      const mounted: string[] = []
      const module = {
        apply: async (ctx: Context, given: unknown) =>
          void mounted.push(`${ctx.fiber.name} ${JSON.stringify(given ?? null)}`),
      }
      const host = await boot({
        composition,
        load: async () => module,
        provides: () => [],
        args: [],
        environment: { get: () => undefined, getFrom: () => undefined },
        homePath: (...segments) => ['/home', ...segments].join('/'),
        logLevel: 'warn',
        stderr: () => {},
        exit: () => {},
      })
      host.shutdown.request(0)
      await host.shutdown.done
      expect(mounted.sort()).toEqual(running(dumped(composition)).sort())
    }),
    { seed: 7, numRuns: Number(process.env['DSH_PROPERTY_RUNS'] ?? 100) },
  )
})
