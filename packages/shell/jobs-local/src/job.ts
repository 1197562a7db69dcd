import { jobMessages } from './errors.ts'
import type { JobFacts, JobOutcome, JobRead, JobStatus, JobWait, JobWork } from './types.ts'

/** One job: its facts, who waits for it, and whether its end has been told. */
export class Job {
  readonly id: string
  readonly settled: Promise<void>
  /** The model knows, or is about to know, how it ended: no notice is needed. */
  reported = false
  private status: JobStatus = 'running'
  private detail: string | undefined
  private endedAt: number | undefined
  private waiting = 0
  private turn: Promise<unknown> = Promise.resolve()
  private readonly kind: string
  private readonly label: string
  private readonly startedAt = Date.now()
  private readonly work: JobWork

  constructor(id: string, kind: string, label: string, work: JobWork) {
    this.id = id
    this.kind = kind
    this.label = label
    this.work = work
    this.settled = work.done.then(
      (outcome) => this.end(outcome),
      (error: unknown) =>
        this.end({ status: 'failed', detail: error instanceof Error ? error.message : String(error) }),
    )
  }

  get active(): boolean {
    return this.endedAt === undefined
  }

  facts(): JobFacts {
    return {
      id: this.id,
      kind: this.kind,
      label: this.label,
      status: this.status,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
      startedAt: this.startedAt,
      ...(this.endedAt === undefined ? {} : { endedAt: this.endedAt }),
    }
  }

  /** Reads take turns, so that what one gives the next does not. */
  read(wait: JobWait | undefined): Promise<JobRead> {
    const mine = this.turn.then(async () => {
      if (wait !== undefined) await this.wait(wait)
      const { text, notes } = this.work.read()
      if (!this.active) this.reported = true
      return { text, notes, job: this.facts() }
    })
    this.turn = mine.catch(() => {})
    return mine
  }

  /** A throw of the producer's ends the job as failed: nobody can stop it any more. */
  cancel(reason: string): void {
    if (!this.active) return
    this.status = 'stopping'
    this.reported = true
    try {
      this.work.cancel(reason)
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      this.end({ status: 'failed', detail: `cancel threw during teardown; work may be orphaned: ${text}` })
    }
  }

  private async wait({ timeoutMs, signal }: JobWait): Promise<void> {
    if (signal?.aborted) throw new Error(jobMessages.waitAborted)
    this.waiting++
    let timer: NodeJS.Timeout | undefined
    let onAbort: (() => void) | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        onAbort = () => reject(new Error(jobMessages.waitAborted))
        timer = setTimeout(resolve, timeoutMs)
        signal?.addEventListener('abort', onAbort, { once: true })
        void this.settled.then(resolve)
      })
    } finally {
      this.waiting--
      clearTimeout(timer)
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
    }
  }

  private end({ status, detail }: JobOutcome): void {
    if (!this.active) return
    this.status = status
    this.detail = detail
    this.endedAt = Date.now()
    if (this.waiting > 0) this.reported = true
  }
}
