import type { Agent } from '@dsh/agent'
import { type Context, notify, Service, scopeTarget } from '@dsh/cordis'
import { jobMessages } from './errors.ts'
import { Job } from './job.ts'
import { pastIds } from './past-ids.ts'
import type { JobController, JobFacts, JobRead, JobsService, JobWait, StartJob } from './types.ts'

/** Settled jobs that an owner can still look up. */
const maxSettled = 100

interface Owner {
  readonly agent: Agent | undefined
  readonly jobs: Map<string, Job>
  readonly numbers: Map<string, number>
  /** Admitted, not begun yet. */
  starting: number
}

/** `ctx.jobs`: the background work of every agent, in memory. */
export class Jobs extends Service implements JobsService {
  private readonly home: Context
  private readonly maxPerOwner: number
  private readonly owners = new Map<Agent | undefined, Owner>()
  private readonly controllers = new Set<JobController>()
  private readonly closing = { value: false }

  constructor(ctx: Context, maxPerOwner: number) {
    super(ctx, 'jobs')
    this.home = ctx
    this.maxPerOwner = maxPerOwner
  }

  async start(request: StartJob): Promise<JobFacts> {
    const { agent, kind, label } = request
    if (this.closing.value) throw new Error(jobMessages.closing)
    if (!this.hasController(agent)) throw new Error(jobMessages.noController)
    const owner = this.ownerOf(agent)
    if (activeOf(owner).length + owner.starting >= this.maxPerOwner)
      throw new Error(jobMessages.limit(this.maxPerOwner))

    owner.starting++
    const work = await request.begin().finally(() => owner.starting--)
    const job = new Job(this.nextId(owner, kind), kind, label, work)
    owner.jobs.set(job.id, job)
    if (this.closing.value || !this.owners.has(agent)) job.cancel('owner disposed')
    void job.settled.then(() => this.ended(owner, job))
    this.changed(owner)
    return job.facts()
  }

  list(agent: Agent | undefined): readonly JobFacts[] {
    return [...(this.owners.get(agent)?.jobs.values() ?? [])].map((job) => job.facts())
  }

  active(agent: Agent | undefined): readonly JobFacts[] {
    const owner = this.owners.get(agent)
    return owner === undefined ? [] : activeOf(owner).map((job) => job.facts())
  }

  get(id: string, agent: Agent | undefined): JobFacts {
    return this.find(id, agent).facts()
  }

  async read(id: string, agent: Agent | undefined, wait?: JobWait): Promise<JobRead> {
    return this.find(id, agent).read(wait)
  }

  kill(id: string, agent: Agent | undefined, reason = 'job_kill'): boolean {
    const job = this.find(id, agent)
    if (!job.active) return false
    job.cancel(reason)
    this.changed(this.ownerOf(agent))
    return true
  }

  async settled(agent: Agent | undefined, { timeoutMs, signal }: JobWait): Promise<readonly JobFacts[]> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const jobs = activeOf(this.ownerOf(agent))
      const left = deadline - performance.now()
      if (jobs.length === 0 || left <= 0 || signal?.aborted) return jobs.map((job) => job.facts())
      await firstOf(jobs, left, signal)
    }
  }

  attachController(controller: JobController): () => void {
    const { controllers, home } = this
    return this.ctx.effect(() => {
      controllers.add(controller)
      notify(home, 'jobs/controllers')
      return () => {
        controllers.delete(controller)
        notify(home, 'jobs/controllers')
      }
    })
  }

  hasController(agent: Agent | undefined): boolean {
    return [...this.controllers].some((controller) => controller.serves(agent))
  }

  /** Stops everything and waits for it: the row's own end. */
  async close(): Promise<void> {
    this.closing.value = true
    await Promise.all([...this.owners.values()].map((owner) => stopAll(owner, 'jobs service disposed')))
    this.owners.clear()
  }

  private find(id: string, agent: Agent | undefined): Job {
    const job = this.owners.get(agent)?.jobs.get(id)
    if (job !== undefined) return job
    const elsewhere = [...this.owners.values()].some((owner) => owner.jobs.has(id))
    throw new Error(elsewhere ? jobMessages.foreign(id) : jobMessages.unknown(id))
  }

  /** An owner's jobs end with its agent, which waits for them. */
  private ownerOf(agent: Agent | undefined): Owner {
    const known = this.owners.get(agent)
    if (known !== undefined) return known
    const owner: Owner = { agent, jobs: new Map(), numbers: new Map(), starting: 0 }
    this.owners.set(agent, owner)
    agent?.ctx.effect(() => async () => {
      await stopAll(owner, 'owner disposed')
      this.owners.delete(agent)
    })
    return owner
  }

  private nextId(owner: Owner, kind: string): string {
    const past = owner.agent?.session.fold(pastIds).get(kind) ?? 0
    const number = Math.max(past, owner.numbers.get(kind) ?? 0) + 1
    owner.numbers.set(kind, number)
    return `${kind}-${number}`
  }

  private ended(owner: Owner, job: Job): void {
    const settled = [...owner.jobs.values()].filter((other) => !other.active)
    for (const old of settled.slice(0, Math.max(0, settled.length - maxSettled))) owner.jobs.delete(old.id)
    const { agent } = owner
    if (agent === undefined || !this.owners.has(agent)) return
    if (!job.reported) notify(this.home, scopeTarget(agent), 'jobs/finished', agent, job.facts())
    this.changed(owner)
  }

  private changed({ agent }: Owner): void {
    if (agent !== undefined) notify(this.home, scopeTarget(agent), 'jobs/changed', agent)
  }
}

function activeOf(owner: Owner): Job[] {
  return [...owner.jobs.values()].filter((job) => job.active)
}

async function stopAll(owner: Owner, reason: string): Promise<void> {
  const jobs = activeOf(owner)
  for (const job of jobs) job.cancel(reason)
  await Promise.all(jobs.filter((job) => job.active).map((job) => job.settled))
}

async function firstOf(jobs: readonly Job[], ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = deferred()
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', resolve, { once: true })
  for (const job of jobs) void job.settled.then(resolve)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', resolve)
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = () => done()
  })
  return { promise, resolve }
}
