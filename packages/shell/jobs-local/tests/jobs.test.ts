import type { Agent } from '@dsh/agent'
import { Context, createScope } from '@dsh/cordis'
import type { Session } from '@dsh/session'
import { describe, expect, it } from 'vitest'
import * as jobsLocal from '../src/index.ts'
import type { JobFacts, JobOutcome, JobsService } from '../src/types.ts'

async function boot(config: object = {}) {
  const ctx = new Context()
  await ctx.plugin(jobsLocal, config as never)
  const controller = { serves: () => true }
  await ctx.plugin({
    name: 'controller',
    inject: ['jobs'],
    apply: async (inner: Context) => void inner.jobs.attachController(controller),
  })
  const finished: JobFacts[] = []
  ctx.on('jobs/finished', (_agent, job) => void finished.push(job))
  const agent = async (past: [string, number][] = []) => {
    const owner = {} as Agent
    const scope = await createScope(ctx, owner)
    const session = { fold: () => new Map(past) } as unknown as Session
    return Object.assign(owner, { ctx: scope.ctx, session, end: () => scope.dispose() })
  }
  return { ctx, jobs: ctx.get('jobs') as JobsService, finished, agent }
}

/** Work that ends when the test says so. */
function work() {
  let settle: (outcome: JobOutcome) => void = () => {}
  const done = new Promise<JobOutcome>((resolve) => {
    settle = resolve
  })
  const chunks: string[] = []
  const cancelled: string[] = []
  return {
    chunks,
    cancelled,
    settle: (outcome: JobOutcome = { status: 'completed', detail: 'exit code: 0' }) => settle(outcome),
    begin: async () => ({
      done,
      read: () => ({ text: chunks.splice(0).join(''), notes: [] }),
      cancel: (reason: string) => {
        cancelled.push(reason)
        settle({ status: 'killed', detail: 'signal: SIGTERM' })
      },
    }),
  }
}
const request = (agent: Agent, begin: ReturnType<typeof work>['begin'], label = 'x') => ({
  kind: 'bash',
  label,
  agent,
  begin,
})
const tick = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('background jobs', () => {
  it('count per agent, on from what its session has seen', async () => {
    const { jobs, agent } = await boot()
    const [one, two] = [await agent(), await agent([['bash', 7]])]
    expect((await jobs.start(request(one, work().begin))).id).toBe('bash-1')
    expect((await jobs.start(request(one, work().begin))).id).toBe('bash-2')
    expect((await jobs.start(request(two, work().begin))).id).toBe('bash-8')
  })

  it('are seen by their owner only', async () => {
    const { jobs, agent } = await boot()
    const [one, two] = [await agent(), await agent()]
    await jobs.start(request(one, work().begin))
    expect(jobs.list(two)).toEqual([])
    expect(() => jobs.get('bash-1', two)).toThrow('job bash-1 belongs to another session')
    expect(() => jobs.kill('bash-9', two)).toThrow('unknown job bash-9')
    await expect(jobs.read('bash-1', two)).rejects.toThrow('belongs to another session')
  })

  it('are not started where nobody could follow them, at the limit, or when their work does not begin', async () => {
    const bare = new Context()
    await bare.plugin(jobsLocal, {} as never)
    await expect(bare.get('jobs')?.start({ kind: 'bash', label: 'x', begin: work().begin })).rejects.toThrow(
      'no job controller',
    )

    const { jobs, agent } = await boot({ maxPerOwner: 1 })
    const owner = await agent()
    await expect(jobs.start(request(owner, async () => Promise.reject(new Error('no runner'))))).rejects.toThrow(
      'no runner',
    )
    expect(jobs.list(owner)).toEqual([])
    const first = work()
    await jobs.start(request(owner, first.begin))
    await expect(jobs.start(request(owner, work().begin))).rejects.toThrow('limit reached for this owner (limit: 1)')
    first.settle()
    await tick()
    expect((await jobs.start(request(owner, work().begin))).id).toBe('bash-2')
  })

  it('announce their end once, unless somebody was told', async () => {
    const { jobs, agent, finished } = await boot()
    const owner = await agent()
    const [unread, awaited, killed] = [work(), work(), work()]
    for (const { begin } of [unread, awaited, killed]) await jobs.start(request(owner, begin))
    const wait = jobs.read('bash-2', owner, { timeoutMs: 1000 })
    jobs.kill('bash-3', owner, 'enough')
    await tick()
    unread.settle()
    awaited.settle()
    expect((await wait).job.status).toBe('completed')
    await tick()
    expect(finished.map((job) => job.id)).toEqual(['bash-1'])
    expect(killed.cancelled).toEqual(['enough'])
    expect(jobs.get('bash-3', owner)).toMatchObject({ status: 'killed', detail: 'signal: SIGTERM' })
    expect(jobs.kill('bash-3', owner)).toBe(false)
  })

  it('are read in call order, each byte once', async () => {
    const { jobs, agent } = await boot()
    const owner = await agent()
    const source = work()
    await jobs.start(request(owner, source.begin))
    const first = jobs.read('bash-1', owner, { timeoutMs: 1000 })
    const second = jobs.read('bash-1', owner)
    source.chunks.push('out')
    await tick()
    source.settle()
    expect((await first).text).toBe('out')
    expect(await second).toMatchObject({ text: '', job: { status: 'completed' } })
  })

  it('let a wait end by its time and by an abort', async () => {
    const { jobs, agent } = await boot()
    const owner = await agent()
    await jobs.start(request(owner, work().begin))
    expect((await jobs.read('bash-1', owner, { timeoutMs: 10 })).job.status).toBe('running')
    const stop = new AbortController()
    const wait = jobs.read('bash-1', owner, { timeoutMs: 10_000, signal: stop.signal })
    stop.abort()
    await expect(wait).rejects.toThrow('wait aborted')
    expect(await jobs.settled(owner, { timeoutMs: 10 })).toMatchObject([{ id: 'bash-1' }])
  })

  it('end with their agent, which waits for them, and nobody is told', async () => {
    const { jobs, agent, finished } = await boot()
    const owner = await agent()
    const source = work()
    await jobs.start(request(owner, source.begin))
    await owner.end()
    expect(source.cancelled).toEqual(['owner disposed'])
    expect(jobs.list(owner)).toEqual([])
    expect(finished).toEqual([])
  })

  it('end with the row, and none begins afterwards', async () => {
    const { ctx, jobs, agent } = await boot()
    const owner = await agent()
    const source = work()
    await jobs.start(request(owner, source.begin))
    await ctx.fiber.dispose()
    expect(source.cancelled).toHaveLength(1)
    await expect(jobs.start(request(owner, work().begin))).rejects.toThrow('background jobs unavailable')
  })

  it('are failed when their work breaks, or cannot be stopped', async () => {
    const { jobs, agent } = await boot()
    const owner = await agent()
    await jobs.start(
      request(owner, async () => ({
        done: Promise.reject(new Error('lost')),
        read: () => ({ text: '', notes: [] }),
        cancel: () => {},
      })),
    )
    await tick()
    expect(jobs.get('bash-1', owner)).toMatchObject({ status: 'failed', detail: 'lost' })
    const stuck = () => {
      throw new Error('stuck')
    }
    await jobs.start(
      request(owner, async () => ({
        done: new Promise(() => {}),
        read: () => ({ text: '', notes: [] }),
        cancel: stuck,
      })),
    )
    await owner.end()
    expect(jobs.list(owner)).toEqual([])
  })
})
