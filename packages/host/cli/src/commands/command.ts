/** A subcommand: takes the words behind its name, gives the exit code. Throw `UsageError` for exit 2. */
export type Command = (args: readonly string[]) => Promise<number>

/** Each command is its own chunk, with `run` as its entry. */
export const commands: Readonly<Record<string, () => Promise<{ run: Command }>>> = {
  completion: () => import('./completion.ts'),
  config: () => import('./config.ts'),
  demo: () => import('./demo.ts'),
  doctor: () => import('./doctor.ts'),
  login: () => import('./login.ts'),
  plugin: () => import('./plugin.ts'),
  profile: () => import('./profile.ts'),
  record: () => import('./record.ts'),
  replay: () => import('./replay.ts'),
  sessions: () => import('./sessions.ts'),
}
