import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { structureProblems } from '@dsh/session'
import { readLog, verifyLog } from '@dsh/session-persistence-jsonl'
import { atTestEnd, tempWorkspace } from '@dsh/testkit'
import { expect, it } from 'vitest'

const bin = process.env['DSH_BIN'] ?? resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')
const built = existsSync(resolve(bin, '../../dist/main.js'))
const kills = process.env['DSH_LONG'] === undefined ? 5 : 300
const steps = 30

interface WireMessage {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
  readonly tool_call_id?: string
}

/** A model that wants files f1 … f30 made in order, asks again for one whose outcome is unknown, and then is done. */
async function model(goal: () => number) {
  const requests: WireMessage[][] = []
  let onRequest = () => {}
  const server = http.createServer(async (req, res) => {
    let body = ''
    for await (const part of req) body += part
    const { messages, tools } = JSON.parse(body) as { messages: WireMessage[]; tools?: unknown[] }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (delta: object, finish: string | null = null) =>
      res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
    if (tools?.length) {
      requests.push(messages)
      onRequest()
    }
    const next = messages.filter((one) => one.role === 'tool' && /^done/.test(one.content)).length + 1
    if (next > goal()) send({ content: `all ${next - 1} made` })
    else {
      send({ reasoning_content: 'next ' })
      const command = `printf ${next} > f${next}; echo done`
      const args = JSON.stringify({ command, description: 'd' })
      send({
        tool_calls: [
          { index: 0, id: `call_${requests.length}`, type: 'function', function: { name: 'bash', arguments: '' } },
        ],
      })
      for (const at of [0, 10])
        send({ tool_calls: [{ index: 0, function: { arguments: at === 0 ? args.slice(0, 10) : args.slice(10) } }] })
    }
    send({}, next > goal() ? 'stop' : 'tool_calls')
    res.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atTestEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    whenRequested: (listener: () => void) => {
      onRequest = listener
    },
  }
}

/** The same numbers every time: a small linear congruential generator. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function unanswered(messages: readonly WireMessage[]): string | undefined {
  for (let i = 0; i < messages.length; i++) {
    const asked = (messages[i]?.tool_calls ?? []).map(({ id }) => id)
    const answered: string[] = []
    if (messages[i]?.role === 'tool') return `stray result ${messages[i]?.tool_call_id}`
    while (messages[i + 1]?.role === 'tool') answered.push(messages[++i]?.tool_call_id as string)
    if (asked.join() !== answered.join()) return `${asked.join()} answered by ${answered.join()}`
  }
  return undefined
}

it.skipIf(!built)(
  `a session that is killed ${kills} times loses nothing that was acknowledged`,
  async () => {
    const workspace = await tempWorkspace()
    const work = workspace.path('work')
    await workspace.write('work/.keep', '')
    // Each round gets thirty further files, so that there is always work to be killed in.
    let goal = steps
    const mock = await model(() => goal)
    const env = {
      PATH: process.env['PATH'],
      HOME: workspace.root,
      DSH_HOME: workspace.path('home'),
      DEEPSEEK_BASE_URL: mock.url,
      DEEPSEEK_API_KEY: 'test-key',
      DSH_PERMISSION_MODE: 'danger-full-access',
    }
    const start = (args: string[]): ChildProcess =>
      spawn(process.execPath, [bin, '--profile', 'headless', ...args], {
        cwd: work,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const id = '3f0c2b1e-6a54-4d7e-9a41-0b6f5f1c7bff'
    const rand = random(42)
    const root = workspace.path('home', 'sessions')
    const stored = () =>
      existsSync(root) && readdirSync(root, { recursive: true }).some((file) => String(file).endsWith('session.jsonl'))

    let killed = 0
    for (let round = 0; killed < kills; round++) {
      expect(round).toBeLessThan(kills * 3)
      const child = start([...(stored() ? ['--resume', id] : ['--session-id', id]), `go on, round ${round}`])
      let stderr = ''
      child.stderr?.on('data', (data: Buffer) => {
        stderr += data.toString()
      })
      const kill = (ms: number) => setTimeout(() => child.kill('SIGKILL'), ms)
      // Sometimes while it starts, mostly around one of its requests.
      let wait = Math.floor(rand() * 5)
      const timers = rand() < 0.15 ? [kill(rand() * 500)] : []
      mock.whenRequested(() => {
        if (wait-- === 0) timers.push(kill(rand() * 40))
      })
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
      for (const timer of timers) clearTimeout(timer)
      if (signal === 'SIGKILL') killed++
      else {
        expect(stderr).toBe('')
        expect(code).toBe(0)
        goal += steps
      }
    }
    mock.whenRequested(() => {})
    const last = start(['--resume', id, 'finish'])
    let answer = ''
    last.stdout?.on('data', (data: Buffer) => {
      answer += data.toString()
    })
    expect(await once(last, 'close')).toEqual([0, null])

    // What was sent once stays: every request goes on from the one before, across kills.
    for (const [i, messages] of mock.requests.entries()) {
      expect(unanswered(messages)).toBeUndefined()
      const before = mock.requests[i - 1] ?? []
      expect(messages.slice(0, before.length)).toEqual(before)
    }
    expect(answer).toBe(`all ${goal} made\n`)
    for (let i = 1; i <= goal; i++) expect(readFileSync(resolve(work, `f${i}`), 'utf8')).toBe(`${i}`)
    expect((await verifyLog(root, id)).problems).toEqual([])
    const path = readdirSync(root, { recursive: true })
      .map(String)
      .find((file) => file.endsWith('session.jsonl')) as string
    const { events } = await readLog({ root, path: resolve(root, path), id })
    expect(structureProblems(events)).toEqual([])
    const calls = events.filter((event) => event.type === 'tool/call').length
    const results = events.filter((event) => event.type === 'tool/result').length
    expect(results).toBeGreaterThanOrEqual(calls)
    console.log(`${killed} kills, ${mock.requests.length} requests, ${events.length} events, ${calls} calls`)
  },
  kills * 8_000 + 60_000,
)
