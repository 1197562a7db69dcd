import type { ConfinedCommand } from '@dsh/sandbox'
import type { SettledProcess } from '@dsh/subprocess'
import { describe, expect, it } from 'vitest'
import { confinedLaunch } from '../src/confined.ts'

const stream = (text: string) => ({ text, bytes: text.length, truncated: false })
const settled = (more: Partial<SettledProcess> & { err?: string } = {}): SettledProcess => ({
  exitCode: 0,
  signal: null,
  stdout: stream(''),
  stderr: stream(more.err ?? ''),
  status: 'ran',
  durationMs: 1,
  ...more,
})
const rung: ConfinedCommand = {
  argv: ['/usr/bin/runner', 'bash'],
  statusFd: 3,
  readStatus: (bytes) => ({ ran: bytes !== '', ...(bytes === 'inner' ? { innerPid: 42 } : {}) }),
  enforcement: 'full',
  notCovered: [],
  rung: 'test',
  denialSignatures: ['read-only file system'],
  mapsSignalsToExitCodes: true,
}
const judge = (process: SettledProcess, stopped = false, more: Partial<ConfinedCommand> = {}) =>
  confinedLaunch({ ...rung, ...more }, 'workspace-write').judge(process, stopped)

describe('the verdict on a confined command', () => {
  it('is a refusal only when the runner reports that nothing ran', () => {
    const verdict = judge(settled({ exitCode: 1, status: '', err: '\nrunner: boom\nmore\n' }))
    expect(verdict.sandbox).toMatchObject({ runnerFailed: true })
    expect(verdict.failure).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(verdict.failure?.message).toMatch(/ Runner failure: runner: boom$/)
  })

  it('does not take the word of what the command printed', () => {
    const verdict = judge(settled({ exitCode: 3, err: 'bwrap: hello\n' }))
    expect(verdict.failure).toBeUndefined()
    expect(verdict).toMatchObject({ exitCode: 3, sandbox: { denied: false } })
  })

  it('does not call a runner broken that was killed before it could report', () => {
    expect(judge(settled({ exitCode: null, signal: 'SIGKILL', status: '' })).failure).toBeUndefined()
    expect(judge(settled({ exitCode: 1, status: '' }), true).failure).toBeUndefined()
  })

  it('is a denial when the command failed and complained of one, in any case of letters', () => {
    const err = 'bash: x: Read-only File System\n'
    expect(judge(settled({ exitCode: 1, err })).sandbox).toMatchObject({ denied: true, mode: 'workspace-write' })
    expect(judge(settled({ exitCode: 0, err })).sandbox?.denied).toBe(false)
    expect(judge(settled({ exitCode: 137, err })).sandbox?.denied).toBe(false)
    expect(judge(settled({ exitCode: 1, err: 'no such file' })).sandbox?.denied).toBe(false)
  })

  it('reads a signal out of the exit code where the runner puts one there', () => {
    expect(judge(settled({ exitCode: 139 }))).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    expect(judge(settled({ exitCode: 139 }), false, { mapsSignalsToExitCodes: false })).toMatchObject({
      exitCode: 139,
      signal: null,
    })
    expect(judge(settled({ exitCode: 200 }))).toMatchObject({ exitCode: 200, signal: null })
  })

  it('carries what the rung does not cover', () => {
    const facts = judge(settled(), false, { enforcement: 'partial', notCovered: ['signals'] }).sandbox
    expect(facts).toMatchObject({ enforcement: 'partial', notCovered: ['signals'], rung: 'test' })
    expect(judge(settled()).sandbox).not.toHaveProperty('notCovered')
  })
})

describe('a confined launch', () => {
  it('says where TERM goes first, once the runner has said so', () => {
    const launch = confinedLaunch(rung, 'read-only')
    expect(launch.innerPid?.('')).toBeUndefined()
    expect(launch.innerPid?.('inner')).toBe(42)
  })

  it('brings the environment that the rung asks for', () => {
    expect(confinedLaunch({ ...rung, env: { npm_config_cache: '/c' } }, 'read-only').env).toEqual({
      npm_config_cache: '/c',
    })
  })

  it('turns a runner that cannot be started into a refusal', () => {
    const error = confinedLaunch(rung, 'read-only').spawnFailed(new Error('spawn /usr/bin/runner ENOENT'))
    expect(error.message).toContain('sandbox mode "read-only" is requested')
    expect(error.message).toContain('Runner failure: spawn /usr/bin/runner ENOENT')
  })
})
