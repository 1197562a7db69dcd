import { spawn } from 'node:child_process'
import path from 'node:path'
import { type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { atTestEnd, tempWorkspace, type Workspace } from '@dsh/testkit'

const dsh = path.resolve(import.meta.dirname, '../packages/host/cli/bin/dsh.js')

/** The built program against a model on loopback, in a home of its own. */
export async function program(steps: readonly MockStep[], at: Workspace) {
  const server = await startMockServer({ steps })
  atTestEnd(() => server.close())
  const home = await tempWorkspace()
  const env = {
    PATH: process.env['PATH'],
    HOME: home.root,
    DSH_HOME: home.path('dsh'),
    DEEPSEEK_BASE_URL: server.url,
    DEEPSEEK_API_KEY: 'test-key',
  }
  const start = (...words: string[]) =>
    spawn(process.execPath, [dsh, ...words], { cwd: at.root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const run = (...words: string[]) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      const child = start(...words)
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (data) => {
        stdout += data
      })
      child.stderr.on('data', (data) => {
        stderr += data
      })
      child.once('close', (code) => resolve({ code, stdout, stderr }))
    })
  return Object.assign(run, { start })
}

/** The id of the newest session. */
export async function newestSession(run: Awaited<ReturnType<typeof program>>): Promise<string> {
  return /"id":\s*"([^"]+)"/.exec((await run('sessions', 'list', '--json')).stdout)?.[1] as string
}
