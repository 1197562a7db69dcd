import { expect, it } from 'vitest'
import { requireRunner } from '../src/require-runner.ts'

const policy = { mode: 'workspace-write', workspaceRoot: '/w', writableRoots: ['/opt/x'] } as const

it('a runner that commands can change is refused, whatever it was when it was found', () => {
  for (const program of ['/w/node_modules/bwrap', '/opt/x/bwrap', '/tmp/bwrap'])
    expect(() => requireRunner(program, policy), program).toThrow(
      `Runner failure: the runner "${program}" lies where commands can change it`,
    )
  for (const program of ['/usr/bin/bwrap', '/w2/bwrap']) expect(() => requireRunner(program, policy)).not.toThrow()
})

it('what is protected or read-only can be run', () => {
  expect(() => requireRunner('/w/kept/bwrap', { ...policy, protectedPaths: ['/w/kept'] })).not.toThrow()
  expect(() => requireRunner('/w/bwrap', { ...policy, mode: 'read-only' })).not.toThrow()
  expect(() => requireRunner('/usr/bin/bwrap', { ...policy, workspaceRoot: '/' })).not.toThrow()
})
