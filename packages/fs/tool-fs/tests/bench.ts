import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { Session } from '@dsh/session'
import { type BootedRows, bootRows, type RowSpec } from '@dsh/testkit'
import type { ToolResult } from '@dsh/tools'

export interface Bench {
  /** Canonical workspace, outside the temporary directories. */
  readonly root: string
  readonly home: string
  readonly ctx: Context
  readonly agent: Agent
  call(name: string, args: unknown, options?: { agent?: Agent; signal?: AbortSignal }): Promise<ToolResult>
  /** The text the model gets. */
  text(name: string, args: unknown, options?: { agent?: Agent }): Promise<string>
  bash(command: string): string
  newAgent(cwd?: string): Agent
  dispose(): Promise<void>
}

export interface BenchOptions {
  readonly mode?: string
  readonly rows?: readonly RowSpec[]
  readonly toolFs?: Record<string, unknown>
  readonly top?: string
  /** Rows in the place of fs-sandbox. */
  readonly fs?: readonly RowSpec[]
  /** Without it no observation policy is mounted. */
  readonly policy?: boolean
  readonly policyConfig?: Record<string, unknown>
}

/** The real file rows over a directory of their own, and calls as the loop makes them. */
export async function bench(options: BenchOptions = {}): Promise<Bench> {
  const parent = join(homedir(), '.tool-fs-tests')
  mkdirSync(parent, { recursive: true })
  const top = options.top ?? realpathSync(mkdtempSync(join(parent, 't-')))
  const root = join(top, 'w')
  const home = join(top, 'home')
  mkdirSync(root, { recursive: true })
  mkdirSync(home, { recursive: true })
  const booted: BootedRows = await bootRows(
    [
      { module: await import('@dsh/system-prompt') },
      { module: await import('@dsh/tools') },
      {
        module: await import('@dsh/sandbox-policy'),
        config: { mode: options.mode ?? 'workspace-write', workspaceRoot: root, ...options.policyConfig },
      },
      ...(options.fs ?? [{ module: await import('@dsh/fs-sandbox') }]),
      ...(options.policy === false ? [] : [{ module: await import('@dsh/fs-observation-policy') }]),
      { module: await import('../src/index.ts'), config: options.toolFs ?? {} },
      ...(options.rows ?? []),
    ],
    { home: join(home, 'dsh') },
  )
  let calls = 0
  const newAgent = (cwd = root) => fakeAgent(cwd, booted.ctx)
  const agent = newAgent()
  const call: Bench['call'] = (name, args, { agent: who = agent, signal } = {}) =>
    booted.ctx.tools.execute({
      callId: `call-${++calls}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
      agent: who,
      signal: signal ?? new AbortController().signal,
    })
  return {
    root,
    home,
    ctx: booted.ctx,
    agent,
    call,
    newAgent,
    text: async (name, args, more) => textOf(await call(name, args, more)),
    bash: (command) => {
      const { stdout, stderr } = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' })
      return stdout + stderr
    },
    async dispose() {
      await booted.dispose()
      // Not rmSync: paths in some tests are longer than a path may be.
      spawnSync('rm', ['-rf', top])
    },
  }
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')
}

let agents = 0
/** What the file tools look at of an agent: its session's identity, directory and appends. */
function fakeAgent(cwd: string, ctx: Context): Agent {
  const id = `session-${++agents}`
  const session = {
    id,
    header: { type: 'session', version: 0, id, createdAt: 0, cwd, delegationDepth: 0 },
    events: [] as unknown[],
    cwd,
    openTurn: 1,
    requestHeader: undefined,
    fold: (fold: { initial: (header: unknown) => unknown; apply: (state: unknown, event: unknown) => unknown }) =>
      session.events.reduce(fold.apply, fold.initial({})),
    append(type: string, data: unknown, marker: object = {}) {
      const event = { type, data, ...marker }
      session.events.push(event)
      return event
    },
  }
  return {
    id: `agent-${agents}`,
    session: session as unknown as Session,
    ctx,
    options: {},
    status: 'idle',
  } as unknown as Agent
}
