/** What the model reads. */

export const defaultDescription =
  'Run commands in a persistent bash shell. State, including the current directory and exported environment variables, persists across calls for this agent.'

export const resetLine =
  'The persistent bash shell was reset; the next bash call starts from the workspace with a fresh current directory and environment.'

export const clippedEnd =
  '<response clipped><NOTE>To save on context only part of the output has been shown to you. Run the command again with its output narrowed, for example by `grep`, `head` or `tail`, or redirected to a file.</NOTE>'

export const waitingLine =
  '[waiting for terminal input: the next bash call is typed into the program, followed by Enter; ^C and ^D alone are sent as these keys]'

export const words = {
  emptyCommand: 'command must be a non-empty string',
  noAgent: 'bash requires an owning agent session',
  timedOut: (timeoutMs: number) =>
    `Your command timed out after ${timeoutMs / 1000} seconds or experienced an OOM error. Below is partial output:`,
  exited: (code: number | undefined, signal: string | undefined) => {
    if (signal !== undefined) return `[shell killed by signal: ${signal}]`
    return code === undefined ? '[shell exited]' : `[shell exited: code ${code}]`
  },
  /** Before the output of the first call in a new shell, when there had been another one. */
  restarted: (why: string) => `[${why}: this is a fresh shell in the workspace]`,
} as const
