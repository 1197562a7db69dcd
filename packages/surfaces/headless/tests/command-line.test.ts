import path from 'node:path'
import { tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { formatOf, parseCommandLine } from '../src/command-line.ts'
import type { HeadlessOptions } from '../src/options.ts'
import { plainTask } from '../src/plain-task.ts'

function options(args: readonly string[], cwd = '/'): HeadlessOptions {
  const parsed = parseCommandLine(args, { cwd, stdinIsTerminal: false })
  if (parsed.kind !== 'run') throw new Error(JSON.stringify(parsed))
  return parsed.options
}

function usage(args: readonly string[]): string {
  const parsed = parseCommandLine(args, { cwd: '/', stdinIsTerminal: false })
  return parsed.kind === 'usage' ? parsed.message : parsed.kind
}

test('words become one task, wherever the flags stand; behind -- everything is a word', () => {
  expect(options(['say', '--effort', 'low', 'hi']).task).toBe('say hi')
  expect(options(['--', '-x is broken']).task).toBe('-x is broken')
  expect(options(['--', '--', 'x']).task).toBe('-- x')
})

test('words alone need no parser, and mean what the parser would have made of them', () => {
  for (const words of [['hi'], ['say', 'hi'], ['help'], ['a -b'], [' x '], ['', 'x'], ['ä\n', '=', 'session=1']])
    expect(plainTask(words, '/w')).toEqual(options(words, '/w'))
  for (const words of [[], [''], [' ', ''], ['-'], ['x', '-'], ['x', '--model', 'y'], ['--', 'x'], ['-c']])
    expect(plainTask(words, '/w')).toBeUndefined()
})

test('no words, or a lone -, mean stdin; at a terminal that is a missing task', () => {
  expect(options([]).task).toBeUndefined()
  expect(options(['-']).task).toBeUndefined()
  const missing = 'error: a task is required, for example: dsh --profile headless "run the tests"'
  expect(parseCommandLine([], { cwd: '/', stdinIsTerminal: true })).toEqual({ kind: 'usage', message: missing })
  expect(usage(['  '])).toBe(missing)
})

test('flags are read into what they mean', async () => {
  const { root } = await tempWorkspace({ 'sub/x': '' })
  expect(
    options(
      [
        '-m',
        'p/m:high',
        '--max-turns',
        '3',
        '--max-wall-time',
        '1.5m',
        '--max-budget-usd',
        '0.25',
        '-C',
        'sub',
        '--output-last-message',
        'out.txt',
        'go',
      ],
      root,
    ),
  ).toMatchObject({
    model: 'p/m:high',
    maxTurns: 3,
    maxWallMs: 90_000,
    maxBudgetUsd: 0.25,
    cwd: path.join(root, 'sub'),
    lastMessageFile: path.join(root, 'out.txt'),
    session: { kind: 'new', id: undefined },
    ephemeral: false,
    format: 'text',
  })
  expect(options(['-c', '--fork-session', '--session-id', 'x', 'go']).session).toEqual({
    kind: 'continue',
    fork: true,
    forkId: 'x',
  })
  expect(options(['-r', 'abc', 'go']).session).toEqual({ kind: 'resume', id: 'abc', fork: false, forkId: undefined })
  expect(options(['--no-session', 'go']).ephemeral).toBe(true)
})

test('what cannot be meant is one line', () => {
  expect(usage(['--frob', 'x'])).toBe("error: unknown option '--frob'")
  expect(usage(['--output-format', 'xml', 'x'])).toContain(
    "option '--output-format <format>' argument 'xml' is invalid",
  )
  expect(usage(['--max-turns', '0', 'x'])).toContain('expected a whole number of at least 1')
  expect(usage(['--max-budget-usd', '-1', 'x'])).toContain('expected a number above 0')
  expect(usage(['--max-wall-time', 'soon', 'x'])).toContain('expected a time such as 90, 90s, 5m or 1h')
  expect(usage(['-c', '-r', 'x', 'y'])).toBe('error: --continue and --resume are mutually exclusive')
  expect(usage(['--fork-session', 'x'])).toBe('error: --fork-session needs --continue or --resume')
  expect(usage(['--session-id', 'a', '-c', 'x'])).toContain('--session-id names a new session')
  expect(usage(['--no-session', '-c', 'x'])).toBe('error: --no-session cannot go on with a stored session')
  expect(usage(['-C', '/no/such/dir', 'x'])).toBe('error: --cd: /no/such/dir is not a directory')
})

test('help names the command and the flags', () => {
  const parsed = parseCommandLine(['--help'], { cwd: '/', stdinIsTerminal: true })
  expect(parsed.kind === 'help' && parsed.text).toMatch(/^Usage: dsh --profile headless \[options\] \[task\.\.\.\]/)
})

test('the format of an error is known even where the line is wrong', () => {
  expect(formatOf(['--frob', '--output-format', 'json'])).toBe('json')
  expect(formatOf(['--output-format=stream-json', '--frob'])).toBe('stream-json')
  expect(formatOf(['--output-format', 'xml'])).toBe('text')
  expect(formatOf([])).toBe('text')
})
