import type { ShellOutcome } from '@dsh/shell'
import { describe, expect, it } from 'vitest'
import { renderOutcome } from '../src/render.ts'

const stream = (text: string, more: object = {}) => ({ text, bytes: text.length, truncated: false, ...more })
const outcome = (more: Partial<ShellOutcome> = {}): ShellOutcome => ({
  exitCode: 0,
  signal: null,
  timedOut: false,
  aborted: false,
  timeoutMs: 300,
  timeoutClamped: false,
  durationMs: 1,
  stdout: stream(''),
  stderr: stream(''),
  arrivals: [],
  ...more,
})
const denied = { mode: 'workspace-write', denied: true } as const
const hint =
  '[sandbox: escalation available — retry this exact command once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]'

describe('a rendered outcome', () => {
  it.each<[string, Partial<ShellOutcome>, string]>([
    ['plain output, its newline kept', { stdout: stream('hi\n') }, 'hi\n'],
    ['no output at all', {}, '(no output)'],
    ['no output and a failure', { exitCode: 2 }, '(no output)\n[exit code: 2]'],
    [
      'both streams and a failure',
      { stdout: stream('o\n'), stderr: stream('e\n'), exitCode: 3 },
      'o\n[stderr]\ne\n[exit code: 3]',
    ],
    ['an unfinished line before a marker', { stdout: stream('o'), exitCode: 1 }, 'o\n[exit code: 1]'],
    ['an unfinished line before stderr', { stdout: stream('o'), stderr: stream('e') }, 'o\n[stderr]\ne'],
    ['stderr alone', { stderr: stream('e\n') }, '[stderr]\ne\n'],
    ['a signal rather than a code', { exitCode: null, signal: 'SIGKILL' }, '(no output)\n[killed by signal: SIGKILL]'],
    [
      'a timeout before the signal it caused',
      { stdout: stream('begun\n'), timedOut: true, exitCode: null, signal: 'SIGTERM' },
      'begun\n[timed out after 300ms]\n[killed by signal: SIGTERM]',
    ],
    ['a timeout that the command survived', { timedOut: true }, '(no output)\n[timed out after 300ms]'],
    [
      'a truncated stream with its file',
      { stdout: stream('z\n', { truncated: true, spillPath: '/h/x.log' }), stderr: stream('e\n') },
      'z\n\n[output truncated; full output: /h/x.log]\n[stderr]\ne\n',
    ],
    [
      'a truncated stream without a file',
      { stderr: stream('z', { truncated: true }), exitCode: 1 },
      '[stderr]\nz\n[output truncated; full output: (unavailable)]\n[exit code: 1]',
    ],
    [
      'a denial, the way out, then the code',
      { stderr: stream('ro\n'), exitCode: 1, sandbox: denied },
      `[stderr]\nro\n[sandbox: file access denied under workspace-write mode]\n${hint}\n[exit code: 1]`,
    ],
  ])('shows %s', (_name, facts, text) => {
    expect(renderOutcome(outcome(facts), true)).toBe(text)
  })

  it('does not offer an escalation where none is advertised', () => {
    expect(renderOutcome(outcome({ exitCode: 1, sandbox: denied }), false)).toBe(
      '(no output)\n[sandbox: file access denied under workspace-write mode]\n[exit code: 1]',
    )
  })
})
