import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type MockServer, type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { atTestEnd, tempWorkspace, type Workspace } from '@dsh/testkit'
import { Tmux } from './tmux.ts'

/** The built program in tmux, with a model, a home and a directory of its own. */
export const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')

export interface Session {
  readonly tmux: Tmux
  readonly server: MockServer
  readonly workspace: Workspace
  readonly env: { readonly [name: string]: string }
  /** Starts the program again in the same home and directory. */
  again(
    args?: string,
    size?: { columns: number; rows: number },
    ready?: string,
    env?: Record<string, string>,
  ): Promise<Tmux>
}

export async function open(
  steps: readonly MockStep[],
  options: {
    args?: string
    files?: Record<string, string>
    env?: Record<string, string>
    size?: { columns: number; rows: number }
    shell?: boolean
    /** What is on the screen when the program is ready. */
    ready?: string
  } = {},
): Promise<Session> {
  const workspace = await tempWorkspace(
    Object.fromEntries(Object.entries(options.files ?? {}).map(([name, text]) => [`w/${name}`, text])),
  )
  await mkdir(workspace.path('w'), { recursive: true })
  const server = await startMockServer({ steps })
  atTestEnd(() => server.close())
  const env = {
    DSH_HOME: workspace.path('home'),
    HOME: workspace.root,
    DEEPSEEK_BASE_URL: server.url,
    DEEPSEEK_API_KEY: 'test-key',
    ...options.env,
  }
  const start = async (command: string, size = options.size, given: Record<string, string> = env) => {
    const tmux = await Tmux.start({ command, cwd: workspace.path('w'), env: given, ...size })
    atTestEnd(() => tmux.close())
    return tmux
  }
  const program = (args = '') => `${process.execPath} ${dsh} ${args}`
  const tmux = await start(options.shell ? 'bash --norc --noprofile' : program(options.args))
  if (!options.shell) await tmux.waitFor(options.ready ?? '/help')
  return {
    tmux,
    server,
    workspace,
    env,
    again: async (args, size, ready = '/help', changed = {}) => {
      const next = await start(program(args), size, { ...env, ...changed })
      await next.waitFor(ready)
      return next
    },
  }
}

export function logs(workspace: Workspace): string[] {
  const home = workspace.path('home', 'sessions')
  if (!existsSync(home)) return []
  return (readdirSync(home, { recursive: true }) as string[]).filter((name) => name.endsWith('session.jsonl'))
}

export async function ask(tmux: Tmux, prompt: string): Promise<void> {
  await tmux.type(prompt)
  await tmux.keys('Enter')
}

/** What the model was asked, without the questions about titles. */
export function requests(server: MockServer): MockServer['requests'] {
  return server.requests.filter((request) => !request.side)
}

/** The process of the program that a pane runs. */
export async function programOf(tmux: Tmux): Promise<number> {
  return Number(execFileSync('pgrep', ['-P', String(await tmux.pid())], { encoding: 'utf8' }).split('\n')[0])
}
