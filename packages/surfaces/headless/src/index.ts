import { access, constants, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type {} from '@dsh/agent-default-model'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import type {} from '@dsh/jobs-local'
import type {} from '@dsh/permission-presets'
import type {} from '@dsh/token-meter'
import * as z from 'zod'
import { droppedText, settleJobs } from './leftovers.ts'
import { processStreams } from './output.ts'
import { type RunHost, run } from './run.ts'
import './startup.ts'
import { UsageError } from './options.ts'

export type { HeadlessOptions } from './options.ts'
export type { ResultDocument } from './result-document.ts'

/** The row that does the task, once the audit has passed. */
export const name = 'headless-runner'
export const inject = ['agentDefaultModel', 'agents', 'sessions', 'llm', 'headlessStartup']

export const Config = lazySchema(() =>
  z.strictObject({
    /** Takes the place of the task on the command line. */
    task: z.string().optional(),
    /** How long a completed run waits for background jobs that the agent left running. */
    maxJobWaitMs: z.number().nonnegative().default(60_000),
  }),
)

export async function apply(ctx: Context, config: z.infer<typeof Config>): Promise<void> {
  const exit = ctx.get('appExit')
  if (exit === undefined)
    throw new Error('headless-runner: the launcher must provide ctx.appExit before the tree mounts')
  const ready = ctx.get('hostReady')
  const options = { ...ctx.headlessStartup, ...(config.task === undefined ? {} : { task: config.task }) }
  const host = hostOf(ctx, config.maxJobWaitMs)

  ctx.effect(() => {
    const stop = new AbortController()
    const running = (async () => {
      // The connection is made while the last rows start.
      ctx.llm.warm()
      await Promise.race([ready?.wait(), aborted(stop.signal)])
      if (stop.signal.aborted) return
      exit(await run(options, host, stop.signal))
    })()
    running.catch((error: unknown) => {
      ctx.logger.error(error)
      exit(1)
    })
    return async () => {
      stop.abort({ kind: 'user' })
      await running.catch(() => {})
    }
  }, 'headless run')
}

function hostOf(ctx: Context, maxJobWaitMs: number): RunHost {
  const streams = processStreams()
  return {
    agents: ctx.agents,
    defaultModel: ctx.agentDefaultModel,
    llm: ctx.llm,
    get store() {
      return ctx.get('sessionPersistence')
    },
    get stdin() {
      return process.stdin
    },
    streams,
    listen: (listener) => void ctx.on('session/event', listener),
    setPermissionMode(session, mode) {
      const presets = ctx.get('permissionPresets')
      if (presets?.optionOf(mode) === undefined)
        throw new UsageError(`error: --permission-mode: this composition has no permission preset "${mode}"`)
      presets.set(session, mode)
    },
    costUsd: (session) => ctx.get('tokenMeter')?.totals(session).costUsd ?? 0,
    hasPrices: ({ provider, model }) => ctx.get('tokenMeter')?.price(provider, model) !== undefined,
    async settleLeftovers(agent, signal) {
      const jobs = ctx.get('jobs')
      if (jobs === undefined) return
      for (const job of await settleJobs(agent, jobs, maxJobWaitMs, signal)) streams.err(droppedText(job))
    },
    writeFile: (path, text) => writeFile(path, text),
    async checkWritable(path) {
      const there = await stat(path).catch(() => undefined)
      if (there?.isDirectory()) throw new Error(`${path} is a directory`)
      await access(there === undefined ? dirname(path) : path, constants.W_OK)
    },
    disabledRows: () => ctx.get('hostRows')?.disabled() ?? [],
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
