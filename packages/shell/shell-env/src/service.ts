import { type Context, Service } from '@dsh/cordis'
import type { ShellEnvContributor, ShellEnvService } from './types.ts'

type CollectInput = Parameters<ShellEnvService['collect']>[0]

const builtIn = [
  { name: 'DSH_HOME', description: 'Directory with the sessions, profiles and settings of dsh' },
  { name: 'DSH_SHELL', description: '1 in every command that dsh runs' },
  { name: 'DSH_SESSION_ID', description: 'Id of the session that runs the command' },
  { name: 'DSH_SESSION_JSONL', description: 'Log file of that session; it may not exist yet' },
] as const
/** DSH_RUN marks the processes that end with the program; see subprocess. */
const reserved = new Set<string>([...builtIn.map((entry) => entry.name), 'DSH_RUN'])
const validName = /^DSH_[A-Z][A-Z0-9_]*$/

/** `ctx.shellEnv`: what commands may know about the harness around them. */
export class ShellEnv extends Service implements ShellEnvService {
  private readonly home: string | undefined
  private readonly owners = new Map<string, ShellEnvContributor>()

  constructor(ctx: Context, home: string | undefined) {
    super(ctx, 'shellEnv')
    this.home = home
  }

  register(contributor: ShellEnvContributor): () => void {
    this.check(contributor)
    const { owners } = this
    return this.ctx.effect(() => {
      for (const name of contributor.names) owners.set(name, contributor)
      return () => {
        for (const name of contributor.names) owners.delete(name)
      }
    })
  }

  collect(input: CollectInput): { readonly [name: string]: string } {
    const env: { [name: string]: string } = { DSH_SHELL: '1' }
    if (this.home !== undefined) env['DSH_HOME'] = this.home
    if (input.sessionId !== undefined) env['DSH_SESSION_ID'] = input.sessionId
    if (input.sessionPath !== undefined) env['DSH_SESSION_JSONL'] = input.sessionPath
    for (const contributor of new Set(this.owners.values())) {
      for (const [name, value] of Object.entries(contributor.collect(input))) {
        if (!contributor.names.includes(name))
          throw new Error(`shell-env: "${name}" was not declared by its contributor`)
        if (value !== undefined) env[name] = String(value)
      }
    }
    return env
  }

  list(): readonly { readonly name: string; readonly description: string }[] {
    const contributed = [...this.owners].map(([name, { description }]) => ({ name, description }))
    return [...builtIn, ...contributed]
  }

  private check(contributor: ShellEnvContributor): void {
    if (contributor.description.trim() === '') throw new Error('shell-env: a contributor needs a description')
    for (const name of contributor.names) {
      if (!validName.test(name)) throw new Error(`shell-env: "${name}" does not match DSH_[A-Z][A-Z0-9_]*`)
      if (reserved.has(name)) throw new Error(`shell-env: "${name}" is set by the harness itself`)
      if (this.owners.has(name)) throw new Error(`shell-env: "${name}" has an owner already`)
    }
  }
}
