import type { ConfinedCommand, ConfineRequest } from '@dsh/sandbox'
import { expect, it } from 'vitest'
import { ladder } from '../src/ladder.ts'
import type { Rung, RungName } from '../src/rung.ts'

const request = (mode: ConfineRequest['policy']['mode'] = 'read-only'): ConfineRequest => ({
  argv: ['/bin/true'],
  cwd: '/',
  policy: { mode, workspaceRoot: '/w' },
})

function rung(
  name: RungName,
  verdict: { usable: boolean; holes?: string[] },
  gaps: string[] = [],
): Rung & { probes: number } {
  const self = {
    probes: 0,
    name,
    gaps: () => gaps,
    forget: () => {},
    verdict: async () => {
      self.probes++
      return { usable: verdict.usable, detail: verdict.usable ? 'usable' : 'missing', holes: verdict.holes ?? [] }
    },
    confine: async ({ argv }: ConfineRequest): Promise<ConfinedCommand> => ({
      argv: [`/${name}`, ...argv],
      enforcement: gaps.length > 0 ? 'partial' : 'full',
      notCovered: [...(verdict.holes ?? []), ...gaps],
      rung: name,
      denialSignatures: [],
      mapsSignalsToExitCodes: false,
    }),
  }
  return self
}

it('the first rung that holds confines', async () => {
  const [first, second] = [rung('bwrap', { usable: true }), rung('landlock', { usable: true }, ['sockets'])]
  const sandbox = ladder([first, second])
  expect(await sandbox.confine(request())).toMatchObject({ argv: ['/bwrap', '/bin/true'], enforcement: 'full' })
  expect(second.probes).toBe(0)
  expect(await sandbox.report()).toEqual({
    rung: 'bwrap',
    enforcement: 'full',
    notCovered: [],
    tried: [{ rung: 'bwrap', usable: true, detail: 'usable' }],
  })
})

it('the next one confines where the first is missing', async () => {
  const sandbox = ladder([rung('bwrap', { usable: false }), rung('landlock', { usable: true }, ['sockets'])])
  expect(await sandbox.confine(request())).toMatchObject({
    rung: 'landlock',
    enforcement: 'partial',
    notCovered: ['sockets'],
  })
  expect((await sandbox.report()).tried.map(({ rung, usable }) => [rung, usable])).toEqual([
    ['bwrap', false],
    ['landlock', true],
  ])
})

it('a rung that lets an escape through gives way to one that does not, and else says so', async () => {
  const leaky = () => rung('bwrap', { usable: true, holes: ['remounting'] })
  expect((await ladder([leaky(), rung('landlock', { usable: true })]).confine(request())).rung).toBe('landlock')
  const alone = ladder([leaky(), rung('landlock', { usable: false })])
  expect(await alone.confine(request())).toMatchObject({
    rung: 'bwrap',
    enforcement: 'partial',
    notCovered: ['remounting'],
  })
  expect(await alone.report()).toMatchObject({ enforcement: 'partial', notCovered: ['remounting'] })
})

it('what a deployment knows not to hold is reported, and is never full', async () => {
  const sandbox = ladder([rung('bwrap', { usable: true })], { knownGaps: ['a kernel without patches'] })
  expect(await sandbox.confine(request())).toMatchObject({
    enforcement: 'partial',
    notCovered: ['a kernel without patches'],
  })
  expect(await sandbox.report()).toMatchObject({ enforcement: 'partial' })
})

it('without a usable rung every confined mode is refused', async () => {
  for (const rungs of [[], [rung('bwrap', { usable: false })]])
    for (const mode of ['read-only', 'workspace-write'] as const)
      await expect(ladder(rungs).confine(request(mode))).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining(`sandbox mode "${mode}" is requested`) as string,
      })
  expect(await ladder([]).report()).toEqual({ rung: undefined, enforcement: 'none', notCovered: [], tried: [] })
})

it('a command without confinement is no business of the ladder', async () => {
  await expect(ladder([rung('bwrap', { usable: true })]).confine(request('danger-full-access'))).rejects.toThrow(
    TypeError,
  )
})
