import type { SandboxReport } from '@dsh/sandbox'
import { expect, it } from 'vitest'
import { remedyFor, sandboxFindings } from '../src/doctor/sandbox.ts'

const report = (more: Partial<SandboxReport>): SandboxReport => ({
  rung: 'bwrap',
  enforcement: 'full',
  notCovered: [],
  limits: '4096 processes (control groups)',
  tried: [{ rung: 'bwrap', usable: true, detail: 'usable' }],
  ...more,
})
const lines = (more: Partial<SandboxReport>) =>
  sandboxFindings(report(more)).map(({ check, status, text, remedy }) => [status, check, text, remedy !== undefined])

it('a rung that holds is ok, and so are its limits', () => {
  expect(lines({})).toEqual([
    ['ok', 'sandbox bwrap', 'usable', false],
    ['ok', 'sandbox', 'bwrap, full', false],
    ['ok', 'resources', '4096 processes (control groups)', false],
  ])
})

it('a partial rung stays partial, with what it leaves open', () => {
  expect(lines({ enforcement: 'partial', notCovered: ['a', 'b'], limits: 'not limited' }).slice(1)).toEqual([
    ['note', 'sandbox', 'bwrap, partial; not covered: a, b', false],
    ['note', 'resources', 'not limited', false],
  ])
  const leaky = { rung: 'bwrap', usable: true, detail: 'does not hold: writes outside the workspace' }
  expect(lines({ tried: [leaky] })[0]).toEqual(['note', 'sandbox bwrap', leaky.detail, false])
})

it('no rung at all is broken, and each missing one comes with what to do about it', () => {
  const tried = [
    { rung: 'bwrap', usable: false, detail: 'bubblewrap is not installed where commands cannot change it' },
    { rung: 'landlock', usable: false, detail: 'landlock-run: landlock is not enforced by this kernel (ABI …)' },
  ]
  expect(
    lines({ rung: undefined, enforcement: 'none', tried }).map(([status, , , remedy]) => [status, remedy]),
  ).toEqual([
    ['note', true],
    ['note', true],
    ['fail', true],
    ['ok', false],
  ])
})

it.each([
  ['bwrap: No permissions to create a new namespace, likely because …', /user namespaces/],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /systempaths/],
  ['bwrap: setting up uid map: Permission denied', /user namespaces/],
])('the remedy fits what bubblewrap said: %s', (detail, remedy) => {
  expect(remedyFor('bwrap', detail)).toMatch(remedy)
})
