import { createHash } from 'node:crypto'
import type { SandboxPolicy } from '@dsh/sandbox'

/** What a runner with a write-restricted token needs to know. There is none yet: no rung uses this. */
export interface WindowsRunner {
  /** A JavaScript runtime and the runner's file. */
  readonly program: readonly string[]
  /** The session's private temporary directory. */
  readonly temp: string
}

/** Under `read-only` the token gets no SID that a file would grant writing to. */
export function windowsArgv(runner: WindowsRunner, policy: SandboxPolicy, command: readonly string[]): string[] {
  const { mode, workspaceRoot } = policy
  if (mode === 'danger-full-access') throw new TypeError('danger-full-access is not confined')
  return [
    ...runner.program,
    ...['--workspace', workspaceRoot, '--temp', runner.temp, '--mode', mode],
    ...(mode === 'workspace-write'
      ? ['--write-sid', writeSid(workspaceRoot), '--temp-write-sid', writeSid(runner.temp)]
      : []),
    '--',
    ...command,
  ]
}

/** A made-up account for one directory, the same in every run, so that its entry in the access list is set once. */
export function writeSid(directory: string): string {
  const hash = createHash('sha256').update(directory.toLowerCase().replaceAll('/', '\\')).digest()
  return `S-1-5-21-${[0, 4, 8, 12].map((offset) => hash.readUInt32LE(offset)).join('-')}`
}

/** Exit 127 with the runner's own line: the command did not run. */
export function windowsRunnerFailure(exitCode: number, stderr: string): string | undefined {
  if (exitCode !== 127) return undefined
  return stderr.split(/\r?\n/).find((line) => line.toLowerCase().startsWith('windows-acl-run: '))
}
