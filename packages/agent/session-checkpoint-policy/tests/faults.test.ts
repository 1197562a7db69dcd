import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { SessionEventOf } from '@dsh/session'
import { atTestEnd, bootRows, call, has, type Reply, say, scriptedModel, tempWorkspace } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'

type Replies = Parameters<typeof scriptedModel>[0]

/** The rows of a turn over real files: a loop, a store, the checkpoints, and one tool that counts its runs. */
async function scene(root: string, home: string, replies: Replies) {
  const model = scriptedModel(replies)
  let ran = 0
  const tool = {
    name: 'counting-tool',
    inject: ['tools'],
    apply: async (ctx: Context) => {
      ctx.tools.register({
        name: 'count',
        description: 'counts',
        parameters: { type: 'object', properties: {} },
        output: { schema: { type: 'number' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
        execute: async () => ++ran,
      })
    },
  }
  const modules = await Promise.all([
    import('@dsh/llm'),
    import('@dsh/session'),
    import('@dsh/session-persistence-jsonl'),
    import('@dsh/session-checkpoint-policy'),
    import('@dsh/system-prompt'),
    import('@dsh/agent'),
    import('@dsh/user-approval'),
    import('@dsh/tools'),
    import('@dsh/agent-loop'),
  ])
  const rows = [...modules, model.row, tool].map((module) => ({
    module,
    config: (module as { name: string }).name === 'session-persistence-jsonl' ? { root, writeBatchMaxDelayMs: 5 } : {},
  }))
  const host = await bootRows(rows, { home })
  const agent = await host.ctx.agents.create({ cwd: home, provider: 'p', model: 'm' })
  return { ...host, agent, model, ran: () => ran, store: host.ctx.sessionPersistence }
}

async function turn(agent: Agent, text: string): Promise<SessionEventOf<'turn/end'>['data']['reason']> {
  agent.followup(text)
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('it hangs')), 5000).unref())
  await Promise.race([agent.whenIdle(), late])
  const end = agent.session.events.findLast((event) => event.type === 'turn/end')
  if (end?.type !== 'turn/end') throw new Error('the turn did not end')
  return end.data.reason
}

const failedWith = (code: string) => ({ kind: 'error', error: expect.objectContaining({ code }) })

describe.skipIf(!has('root') || process.platform !== 'linux')('on a small disk of its own', () => {
  async function smallDisk() {
    const workspace = await tempWorkspace()
    const mount = workspace.path('disk')
    mkdirSync(mount)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', mount])
    expect(mounted.status, String(mounted.stderr)).toBe(0)
    atTestEnd(async () => void spawnSync('umount', ['-l', mount]))
    const filler = join(mount, 'filler')
    const fill = () => {
      const { bavail, bsize } = statfsSync(mount)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
    }
    return { home: workspace.path('home'), root: join(mount, 'sessions'), fill, free: () => rmSync(filler), mount }
  }

  it('a prompt that cannot be written is not acknowledged: no request leaves, and the next turn goes on when there is room', async () => {
    const disk = await smallDisk()
    const s = await scene(disk.root, disk.home, [say('one'), say('three')])
    expect(await turn(s.agent, 'first')).toEqual({ kind: 'completed' })
    disk.fill()
    const large = 'x'.repeat(20_000)
    expect(await turn(s.agent, large)).toEqual(failedWith('SESSION_WRITE_FAILED'))
    expect(s.model.requests.length).toBe(1)
    disk.free()
    expect(await turn(s.agent, 'third')).toEqual({ kind: 'completed' })
    const { verifyLog } = await import('@dsh/session-persistence-jsonl')
    await s.store.flush(s.agent.session)
    expect((await verifyLog(disk.root, s.agent.session.id)).problems).toEqual([])
    const path = (await s.store.locate(s.agent.session.id)) as string
    expect(
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .every((line) => JSON.parse(line)),
    ).toBe(true)
  })

  it('a tool call that cannot be recorded does not run', async () => {
    const disk = await smallDisk()
    const thenFull: Replies[number] = (): Reply => {
      disk.fill()
      return call('count', { pad: 'x'.repeat(20_000) })
    }
    const s = await scene(disk.root, disk.home, [thenFull, say('never')])
    expect(await turn(s.agent, 'go')).toEqual(failedWith('SESSION_WRITE_FAILED'))
    expect(s.ran()).toBe(0)
    expect(s.model.requests.length).toBe(1)
    const result = s.agent.session.events.find((event) => event.type === 'tool/result')
    expect(result?.type === 'tool/result' && result.data.error?.code).toBe('SESSION_WRITE_FAILED')
  })

  it('a disk that was full from the start leaves nothing half-made behind', async () => {
    const disk = await smallDisk()
    disk.fill()
    const s = await scene(disk.root, disk.home, [say('now')])
    expect(await turn(s.agent, 'go')).toEqual(failedWith('SESSION_WRITE_FAILED'))
    disk.free()
    expect(await turn(s.agent, 'again')).toEqual({ kind: 'completed' })
    expect((await s.store.list()).map(({ problem }) => problem)).toEqual([undefined])
  })

  it('a read-only disk is named in the failure', async () => {
    const disk = await smallDisk()
    expect(spawnSync('mount', ['-o', 'remount,ro', disk.mount]).status).toBe(0)
    const s = await scene(disk.root, disk.home, [])
    expect(await turn(s.agent, 'go')).toMatchObject({
      kind: 'error',
      error: { code: 'SESSION_WRITE_FAILED', message: expect.stringMatching(/was not saved to .*EROFS/) },
    })
  })
})

it('a log that is deleted underneath ends the turn before the next request', async () => {
  const workspace = await tempWorkspace()
  const root = workspace.path('sessions')
  const thenGone: Replies[number] = (): Reply => {
    rmSync(root, { recursive: true })
    return call('count', {})
  }
  const s = await scene(root, workspace.path('home'), [thenGone, say('never')])
  expect(await turn(s.agent, 'go')).toEqual(failedWith('SESSION_LOG_GONE'))
  expect(s.ran()).toBe(0)
  expect(s.model.requests.length).toBe(1)
})

it('a place that is no directory is refused by name', async () => {
  const workspace = await tempWorkspace({ sessions: 'a file' })
  const s = await scene(workspace.path('sessions'), workspace.path('home'), [])
  expect(await turn(s.agent, 'go')).toMatchObject({
    kind: 'error',
    error: { code: 'SESSION_WRITE_FAILED', message: expect.stringContaining(dirname(workspace.path('sessions', 'x'))) },
  })
  expect(s.model.requests.length).toBe(0)
})
