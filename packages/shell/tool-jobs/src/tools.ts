import type { JobFacts, JobRead, JobsService } from '@dsh/jobs-local'
import type { JsonSchema, ToolDefinition } from '@dsh/tools'
import { descriptions, renderKill, renderList, renderRead } from './words.ts'

export interface WaitLimits {
  /** How long a wait lasts unless the call says. */
  readonly waitTimeoutMs: number
  readonly maxWaitTimeoutMs: number
}

interface JobArgs {
  readonly job_id: string
}
interface OutputArgs extends JobArgs {
  readonly wait?: boolean | null
  readonly timeout_ms?: number | null
}
interface KillArgs extends JobArgs {
  readonly reason?: string | null
}

const jobId: JsonSchema = {
  type: 'string',
  description: 'Job id returned by the tool that started the background work.',
}
const anyObject: JsonSchema = { type: 'object', properties: {} }

export function jobOutput(jobs: JobsService, limits: WaitLimits): ToolDefinition<OutputArgs, JobRead> {
  return {
    name: 'job_output',
    description: descriptions.output,
    parameters: {
      type: 'object',
      properties: {
        job_id: jobId,
        wait: {
          type: 'boolean',
          description:
            'Block until the job reaches a terminal status or the timeout expires. A timed-out wait returns [status: running] and leaves the job alive.',
        },
        timeout_ms: {
          type: 'number',
          description:
            'Max wait in milliseconds (only meaningful with wait: true). Defaults to the configured wait timeout; capped by the configured maximum.',
        },
      },
      required: ['job_id'],
    },
    nullIsAbsent: true,
    // Reads of one job take turns in call order, so several may overlap.
    isConcurrencySafe: () => true,
    output: {
      schema: anyObject,
      render: (_args, value) => [{ type: 'text', text: renderRead(value) }],
      presentationMeta: (_args, value) => ({ job: value.job }),
    },
    execute: async (args, exec) => {
      checkId(args)
      const timeoutMs = waitTime(args, limits)
      const wait = args.wait === true ? { timeoutMs, signal: exec.signal } : undefined
      return jobs.read(args.job_id, exec.agent, wait)
    },
  }
}

export function jobList(jobs: JobsService): ToolDefinition<object, { readonly jobs: readonly JobFacts[] }> {
  return {
    name: 'job_list',
    description: descriptions.list,
    parameters: { type: 'object', properties: {} },
    output: {
      schema: anyObject,
      render: (_args, value) => [{ type: 'text', text: renderList(value.jobs) }],
    },
    execute: async (_args, exec) => ({ jobs: jobs.list(exec.agent) }),
  }
}

export function jobKill(
  jobs: JobsService,
): ToolDefinition<KillArgs, { readonly requested: boolean; readonly job: JobFacts }> {
  return {
    name: 'job_kill',
    description: descriptions.kill,
    parameters: {
      type: 'object',
      properties: {
        job_id: jobId,
        reason: {
          type: 'string',
          description: 'Optional short reason, recorded in the log and forwarded to the job.',
        },
      },
      required: ['job_id'],
    },
    nullIsAbsent: true,
    output: {
      schema: anyObject,
      render: (args, value) => [{ type: 'text', text: renderKill(args.job_id, value.requested, value.job) }],
      presentationMeta: (_args, value) => ({ job: value.job }),
    },
    execute: async (args, exec) => {
      checkId(args)
      const requested = jobs.kill(args.job_id, exec.agent, args.reason ?? undefined)
      return { requested, job: jobs.get(args.job_id, exec.agent) }
    },
  }
}

function checkId({ job_id: id }: JobArgs): void {
  if (id.trim() === '') throw new Error(`invalid job_id: expected a non-empty string, got ${JSON.stringify(id)}`)
}

function waitTime({ timeout_ms: asked }: OutputArgs, limits: WaitLimits): number {
  if (asked == null) return limits.waitTimeoutMs
  if (asked <= 0)
    throw new Error(`invalid wait timeout: expected a positive number of milliseconds, got ${JSON.stringify(asked)}`)
  return Math.min(asked, limits.maxWaitTimeoutMs)
}
