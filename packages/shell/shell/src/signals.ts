import { constants } from 'node:os'

/** Signals whose default action does not end a process; 128+n of these is an ordinary exit code. */
const harmless = new Set(['SIGCHLD', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGWINCH'])

const byNumber = new Map<number, string>()
for (const [name, number] of Object.entries(constants.signals)) {
  if (!harmless.has(name) && !byNumber.has(number)) byNumber.set(number, name)
}

/** The signal behind a runner's exit code 128+n, or undefined when the code is just a code. */
export function signalOfExitCode(code: number): string | undefined {
  return code > 128 ? byNumber.get(code - 128) : undefined
}
