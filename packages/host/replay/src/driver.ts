import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@dsh/agent'
import type {} from '@dsh/agent-default-model'
import type { Context } from '@dsh/cordis'
import { assertNever, errorText } from '@dsh/core'
import type {} from '@dsh/host'
import type { ContentBlock, UserMessage } from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'
import type { ApprovalAnswer } from '@dsh/user-approval'
import * as z from 'zod'
import { type Step, stepSchema } from './steps.ts'

/**
 * The surface of a replayed session: it does in order what `input.json` says a person did, tells the parent process
 * as JSON lines what happens, and ends the program. Mounted in the place of the headless runner.
 */
export const name = 'replay-driver'
export const inject = ['agents', 'sessions', 'sessionPersistence']
export const Config = z.object({
  steps: z.array(stepSchema),
  /** Default: what the composition takes for new agents. */
  route: z.object({ provider: z.string(), model: z.string(), reasoningEffort: z.string().optional() }).optional(),
  /** The session that an earlier process left. */
  resume: z.string().optional(),
  answers: z.array(z.object({ kind: z.string() })).optional(),
  /** Send every event as it happens. */
  narrate: z.boolean().default(false),
})
type Config = z.infer<typeof Config>

export type DriverLine =
  | { readonly replay: 'event'; readonly event: SessionEvent }
  | { readonly replay: 'session'; readonly sessionId: string }
  | { readonly replay: 'done' }
  | { readonly replay: 'failed'; readonly message: string }

export async function apply(ctx: Context, config: Config) {
  const exit = ctx.appExit
  const ready = ctx.hostReady
  if (config.answers !== undefined) answerFrom(ctx, config.answers)
  ready
    .wait()
    .then(() => drive(ctx, config))
    .then(
      () => {
        tell({ replay: 'done' })
        exit(0)
      },
      (error: unknown) => {
        tell({ replay: 'failed', message: errorText(error) })
        exit(1)
      },
    )
}

async function drive(ctx: Context, config: Config): Promise<void> {
  const agent = await ctx.agents.create({
    ...(config.resume === undefined ? {} : { resumeSessionId: config.resume }),
    cwd: process.cwd(),
    ...(config.route ?? ctx.get('agentDefaultModel')?.current()),
  })
  const { session } = agent
  tell({ replay: 'session', sessionId: session.id })
  if (config.narrate) {
    for (const event of session.events) if (event.seq >= session.firstLiveSeq) tell({ replay: 'event', event })
    ctx.on('session/event', (from, event) => {
      if (from === session) tell({ replay: 'event', event })
    })
  }
  await agent.whenIdle()
  for (const step of config.steps) await run(ctx, agent, step)
  await ctx.sessionPersistence.flush(session)
  await agent.dispose()
}

async function run(ctx: Context, agent: Agent, step: Step): Promise<void> {
  switch (step.op) {
    case 'initialize':
    case 'newSession':
    case 'waitForTurnEnd':
    case 'resume':
      return
    case 'prompt':
    case 'promptExpectError':
      agent.followup(step.text)
      return await agent.whenIdle()
    case 'promptContent':
      agent.followup(userMessage(step.content as unknown as ContentBlock[]))
      return await agent.whenIdle()
    case 'promptAndCancel':
      agent.followup(step.text)
      await reached(agent, step)
      agent.cancel({ kind: 'user' })
      return await agent.whenIdle()
    case 'promptAndSteer':
      agent.followup(step.text)
      await reached(agent, step)
      agent.steer(step.steer)
      return await agent.whenIdle()
    case 'promptAndWriteFile':
      agent.followup(step.text)
      await reached(agent, step)
      await put(step.path, step.content)
      return await agent.whenIdle()
    case 'promptAndKill':
      agent.followup(step.text)
      await reached(agent, step)
      if (step.waitForEvents !== undefined) await sleep(callGraceMs(agent.session.events[step.waitForEvents - 1]))
      await ctx.sessionPersistence.flush(agent.session)
      process.kill(process.pid, 'SIGKILL')
      return await new Promise(() => {})
    case 'writeFile':
      return await put(step.path, step.text)
    case 'command':
      return await command(ctx, agent, step.text)
    default:
      return assertNever(step)
  }
}

/** A call that was running when the recording's process died had done something by then; how much, nobody knows. */
function callGraceMs(last: SessionEvent | undefined): number {
  return last?.type === 'tool/call' ? 500 : 0
}

/** Until the named file is there, or the call runs, or else until the model has said something. */
async function reached(
  agent: Agent,
  step: {
    readonly waitForFile?: { readonly path: string }
    readonly waitForCalls?: number
    readonly waitForChunks?: number
    readonly waitForEvents?: number
    readonly timeoutMs?: number
  },
): Promise<void> {
  const deadline = Date.now() + (step.timeoutMs ?? 30_000)
  const spoke = () =>
    agent.session.events.some((event) => event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta')
  const { waitForFile: file, waitForCalls: calls, waitForChunks: chunks, waitForEvents: events } = step
  const count = (type: SessionEvent['type']) => agent.session.events.filter((event) => event.type === type).length
  const [there, what]: [() => boolean, string] =
    file !== undefined
      ? [() => existsSync(path.resolve(file.path)), file.path]
      : calls !== undefined
        ? [() => count('tool/call') >= calls, `call ${calls}`]
        : chunks !== undefined
          ? [() => count('assistant/chunk') >= chunks, `chunk ${chunks}`]
          : events !== undefined
            ? [() => agent.session.events.length >= events, `event ${events}`]
            : [spoke, 'the first words']
  while (!there()) {
    if (Date.now() > deadline) throw new Error(`gave up waiting for ${what}`)
    await sleep(10)
  }
}

async function put(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true })
  await writeFile(path.resolve(file), content)
}

function userMessage(content: readonly ContentBlock[]): UserMessage {
  return { content, source: { kind: 'user' }, role: 'user', id: crypto.randomUUID() }
}

async function command(ctx: Context, agent: Agent, text: string): Promise<void> {
  const commands = ctx.get('commands') as { run(agent: Agent, text: string): Promise<unknown> } | undefined
  if (commands === undefined) throw new Error(`the step "command ${text}" needs the row commands`)
  await commands.run(agent, text)
  await agent.whenIdle()
}

/** `allow_once`, `reject_once`, …: one answer per request, in order; `cancelled` when there is none left. */
function answerFrom(ctx: Context, answers: readonly { readonly kind: string }[]): void {
  let next = 0
  ctx.on('approval/request', async (): Promise<ApprovalAnswer> => {
    const kind = answers[next++]?.kind
    if (kind === undefined || kind === 'cancelled') return 'cancelled'
    return kind.startsWith('allow') ? 'allowed-once' : 'rejected'
  })
}

function tell(line: DriverLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
