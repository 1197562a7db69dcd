import type { Agent } from '@dsh/agent'
import type { JobFacts, JobsService } from '@dsh/jobs-local'

/**
 * Waits for the background jobs of an agent whose turn is completed: the end of one may open another turn, which is
 * waited for too. Gives the jobs that were still running when the time was over; they end with the program.
 */
export async function settleJobs(
  agent: Agent,
  jobs: JobsService,
  maxWaitMs: number,
  signal: AbortSignal,
): Promise<readonly JobFacts[]> {
  const deadline = performance.now() + maxWaitMs
  while (!signal.aborted && completed(agent)) {
    const active = jobs.active(agent)
    const timeoutMs = deadline - performance.now()
    if (active.length === 0 || timeoutMs <= 0) return active
    await jobs.settled(agent, { timeoutMs, signal })
    await agent.whenIdle()
  }
  return []
}

export function droppedText(job: JobFacts): string {
  const [first = '', ...rest] = job.label.trim().split('\n')
  return `dsh: background job ${job.id} (${job.kind}: ${first}${rest.length === 0 ? '' : ' …'}) was still running and is stopped\n`
}

function completed(agent: Agent): boolean {
  const end = agent.session.events.findLast((event) => event.type === 'turn/end')
  return end?.type === 'turn/end' && end.data.reason.kind === 'completed'
}
