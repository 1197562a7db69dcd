import { areasOf, type SandboxPolicy } from '@dsh/sandbox'
import { describe, expect, it } from 'vitest'
import { seatbeltArgv, seatbeltProfile } from '../src/seatbelt-profile.ts'
import { windowsArgv, windowsRunnerFailure, writeSid } from '../src/windows-argv.ts'

describe('the Seatbelt profile', () => {
  const temp = ['/private/tmp', '/private/var/folders/x/T']
  const profile = (policy: Partial<SandboxPolicy>, network: 'shared' | 'none' = 'shared') =>
    seatbeltProfile(areasOf({ mode: 'workspace-write', workspaceRoot: '/Users/u/w', ...policy }, temp), network)

  it('allows everything but writing, and writing below the workspace and the temporary directories', () => {
    expect(profile({ mode: 'read-only' })).toBe(
      '(version 1) (allow default) (deny file-write*) (allow file-write* (literal "/dev/null"))',
    )
    expect(profile({})).toBe(
      '(version 1) (allow default) (deny file-write*) (allow file-write* (literal "/dev/null")) (allow file-write* (subpath "/private/tmp") (subpath "/Users/u/w") (subpath "/private/var/folders/x/T"))',
    )
  })

  it('lets the deeper area decide: protected, hidden, and writable again below', () => {
    expect(
      profile({
        workspaceRoot: '/Users/u/.dsh/w',
        protectedPaths: ['/Users/u/.dsh'],
        hiddenPaths: ['/Users/u/.dsh/.credentials.yaml'],
      }),
    ).toMatch(
      /\(deny file-write\* \(subpath "\/Users\/u\/\.dsh"\)\) \(allow file-write\* \(subpath "\/Users\/u\/\.dsh\/w"\)\) \(deny file-read\* file-write\* \(subpath "\/Users\/u\/\.dsh\/\.credentials\.yaml"\)\)/,
    )
  })

  it('cuts the network when asked, and takes any name of a directory as it is', () => {
    expect(profile({}, 'none')).toMatch(/ \(deny network\*\)$/)
    expect(profile({ workspaceRoot: '/Users/u/a "b" \\c' })).toContain('(subpath "/Users/u/a \\"b\\" \\\\c")')
    expect(seatbeltArgv('(version 1)', ['/bin/bash', '-c', 'true'])).toEqual([
      '/usr/bin/sandbox-exec',
      '-p',
      '(version 1)',
      '--',
      '/bin/bash',
      '-c',
      'true',
    ])
  })
})

describe('the Windows command line', () => {
  const runner = { program: ['node.exe', 'runner.js'], temp: 'C:\\T\\s' }
  const argv = (mode: SandboxPolicy['mode']) =>
    windowsArgv(runner, { mode, workspaceRoot: 'C:\\w' }, ['pwsh', '-Command', 'ls'])

  it('gives a token that may write in the workspace and the session’s own temporary directory', () => {
    expect(argv('workspace-write')).toEqual([
      ...['node.exe', 'runner.js', '--workspace', 'C:\\w', '--temp', 'C:\\T\\s', '--mode', 'workspace-write'],
      ...['--write-sid', writeSid('C:\\w'), '--temp-write-sid', writeSid('C:\\T\\s')],
      ...['--', 'pwsh', '-Command', 'ls'],
    ])
    expect(argv('read-only').join(' ')).toBe(
      'node.exe runner.js --workspace C:\\w --temp C:\\T\\s --mode read-only -- pwsh -Command ls',
    )
    expect(() => argv('danger-full-access')).toThrow(TypeError)
  })

  it('names one account for each directory, however it is spelled', () => {
    expect(writeSid('C:\\Work')).toMatch(/^S-1-5-21(-\d{1,10}){4}$/)
    expect(writeSid('c:/work')).toBe(writeSid('C:\\Work'))
    expect(writeSid('C:\\Work2')).not.toBe(writeSid('C:\\Work'))
  })

  it('a failed runner is told by its exit code and its own line, not by what a command prints', () => {
    expect(windowsRunnerFailure(127, 'x\r\nwindows-acl-run: no token\r\n')).toBe('windows-acl-run: no token')
    expect(windowsRunnerFailure(1, 'windows-acl-run: no token')).toBeUndefined()
    expect(windowsRunnerFailure(127, 'not found: windows-acl-run: x')).toBeUndefined()
  })
})
