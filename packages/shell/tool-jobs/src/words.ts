import type { JobFacts, JobRead } from '@dsh/jobs-local'

/** The model-visible strings of the three tools, and of the notice. */
export const descriptions = {
  output:
    'Read a background job. Stream jobs return only output since the previous read; final-output jobs return their result after settlement. Every response ends with `[status: ...]`. Reads are non-blocking unless `wait: true`, which waits up to the configured cap.',
  list: 'List your background jobs (running and finished) with their ids, kinds, and statuses.',
  kill: 'Request cancellation of a running background job by job id. Returns immediately; the job settles as killed once its work actually stops.',
} as const

/** The guidance section `tool:jobs`. */
export const guidance =
  "Track every background job id you start. You are notified in-session when a job finishes — do not busy-poll or sleep on one; keep working on independent steps and do not duplicate a running job's work. Before giving a final answer, collect every still-relevant job with job_output (set wait: true only when you are genuinely blocked on it), and job_kill jobs that stopped mattering."

export function statusLine(job: Pick<JobFacts, 'status' | 'detail'>): string {
  return job.detail === undefined ? `[status: ${job.status}]` : `[status: ${job.status}, ${job.detail}]`
}

/** One consuming read: what came since the last one, lines about the whole job, the status last. */
export function renderRead({ text, notes, job }: JobRead): string {
  const body = text === '' ? '(no new output)' : text
  return `${body}${body.endsWith('\n') ? '' : '\n'}${[...notes, statusLine(job)].join('\n')}`
}

export function renderList(jobs: readonly JobFacts[]): string {
  if (jobs.length === 0) return '(no background jobs)'
  return jobs.map((job) => `${job.id} [${job.kind}] ${job.status} — ${oneLine(job.label)}`).join('\n')
}

export function renderKill(id: string, requested: boolean, job: JobFacts): string {
  return requested ? `requested cancellation of job ${id}` : `job ${id} had already finished ${statusLine(job)}`
}

export function notice(job: JobFacts): string {
  return `background job ${job.id} (${job.kind}: ${oneLine(job.label)}) finished ${statusLine(job)}. Read its output with job_output.`
}

/** One row a job: a command of several lines shows its first. */
function oneLine(label: string): string {
  const [first = '', ...rest] = label.trim().split('\n')
  return rest.length === 0 ? first : `${first} …`
}
