import type { Agent, AgentsService } from '@dsh/agent'
import type { AgentDefaultModel } from '@dsh/agent-default-model'
import { errorAdvice, errorCode, errorText } from '@dsh/core'
import type { LlmService } from '@dsh/llm'
import type { Session, SessionEvent, SessionPersistence } from '@dsh/session'
import { namingMissingRow, namingUnlistedModel } from './missing-row.ts'
import { chooseModel } from './model-choice.ts'
import { type HeadlessOptions, UsageError } from './options.ts'
import { exitCodes, failed, type Outcome, type RunSummary, summarize } from './outcome.ts'
import { createOutput, type Output, type Streams } from './output.ts'
import { resultDocument } from './result-document.ts'
import { openChoice } from './session-choice.ts'
import { readTask } from './stdin.ts'
import { usageOutcome } from './usage.ts'

/** What a run takes from its composition. */
export interface RunHost {
  readonly agents: AgentsService
  readonly defaultModel: AgentDefaultModel
  readonly llm: LlmService
  readonly store: SessionPersistence | undefined
  readonly stdin: AsyncIterable<Buffer | string>
  readonly streams: Streams
  readonly listen: (listener: (session: Session) => void) => void
  readonly setPermissionMode: (session: Session, mode: string) => void
  /** What the session has cost so far, as far as prices are known. */
  readonly costUsd: (session: Session) => number
  readonly hasPrices: (model: ModelRoute) => boolean
  /** Waits for what the agent left running, within a bound; tells what was dropped. */
  readonly settleLeftovers: (agent: Agent, signal: AbortSignal) => Promise<void>
  readonly writeFile: (path: string, text: string) => Promise<void>
  /** Throws unless a file can be written there. */
  readonly checkWritable: (path: string) => Promise<void>
  readonly disabledRows: () => readonly { readonly id: string; readonly name: string }[]
}

type ModelRoute = { readonly provider: string; readonly model: string }

interface Progress {
  session?: Session
  summary?: RunSummary
  /** Of this run; undefined when its model has no prices. */
  costUsd?: () => number | undefined
}

/** One task from start to end; gives the exit code. `signal` is the program being told to stop. */
export async function run(options: HeadlessOptions, host: RunHost, signal: AbortSignal): Promise<number> {
  const startedAt = performance.now()
  const output = createOutput(options.format, host.streams)
  const progress: Progress = {}
  const outcome = await work(options, host, output, progress, signal).catch((error: unknown) => {
    if (error instanceof UsageError) return error
    // What an aborted wait throws is the signal's reason, not a fault.
    if (signal.aborted && error === signal.reason)
      return { answer: undefined, ...failed({ code: 'ABORTED', message: 'the run was interrupted' }) }
    return { answer: undefined, ...failed(faultOf(error)) }
  })
  if (outcome instanceof UsageError) {
    reportUsage(outcome, options, output, host)
    await host.streams.flushed()
    return exitCodes.usage
  }
  const written = await writeLastMessage(options, namingMissingRow(outcome, host.disabledRows()), host)
  const { session, summary } = progress
  const facts = {
    sessionId: session?.id,
    durationMs: performance.now() - startedAt,
    summary,
    costUsd: progress.costUsd?.(),
  }
  output.finished(written, resultDocument(written, facts), signal.aborted)
  await host.streams.flushed()
  return written.exitCode
}

/** Node puts the code before its words too. The next step, where one is known, goes with the reason. */
function faultOf(error: unknown): { readonly code: string; readonly message: string } {
  const code = errorCode(error) ?? 'UNKNOWN'
  const text = errorAdvice(error)
  return { code, message: text.startsWith(`${code}: `) ? text.slice(code.length + 2) : text }
}

async function work(
  options: HeadlessOptions,
  host: RunHost,
  output: Output,
  progress: Progress,
  signal: AbortSignal,
): Promise<Outcome> {
  const task = options.task ?? (await readTask(host.stdin, signal))
  const { lastMessageFile } = options
  if (lastMessageFile !== undefined)
    await host.checkWritable(lastMessageFile).catch((error: unknown) => {
      throw new UsageError(`error: --output-last-message: ${errorText(error)}`)
    })
  const agent = await openAgent(options, host)
  const { session } = agent
  progress.session = session
  const model = modelOf(agent)
  const costBefore = host.costUsd(session)
  progress.costUsd = () => (host.hasPrices(model) ? host.costUsd(session) - costBefore : undefined)
  if (options.maxBudgetUsd !== undefined && !host.hasPrices(model))
    throw new UsageError(
      `error: --max-budget-usd: there are no prices for model "${model.model}" of "${model.provider}"`,
    )
  if (options.permissionMode !== undefined) host.setPermissionMode(session, options.permissionMode)

  const summary = summarize()
  progress.summary = summary
  output.started(session, model)
  // The log is what is told; a listener only says when to look. It is gone before the last event of a stopped run.
  let told = session.events.length
  const tell = () => {
    while (told < session.events.length) {
      const event = session.events[told++] as SessionEvent
      summary.add(event)
      output.event(session, event)
    }
  }
  host.listen((from) => {
    if (from === session) tell()
  })
  const cancel = () => agent.cancel({ kind: 'user' }, { keepInbox: true })
  signal.addEventListener('abort', cancel, { once: true })
  signal.throwIfAborted()

  agent.followup(task)
  await agent.whenIdle()
  await host.settleLeftovers(agent, signal)
  tell()
  await host.store?.flush(session)
  return await namingUnlistedModel(summary.outcome(), model, host.llm)
}

async function openAgent(options: HeadlessOptions, host: RunHost): Promise<Agent> {
  const { maxTurns, maxWallMs, maxBudgetUsd } = options
  const limits = {
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxWallMs === undefined ? {} : { maxWallMs }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd }),
  }
  const fallback = host.defaultModel.current()
  const chosen = await chooseModel(options, fallback, host.llm)
  const place = await openChoice(options, host.store)
  const isNew = options.session.kind === 'new'
  // A stored session goes on with its own model unless another one was asked for.
  const given = isNew || options.model !== undefined ? chosen : {}
  const agent = await host.agents.create({ ...place, ...given, limits })
  if (agent.options.model === undefined) agent.configure(chosen)
  if (!isNew && options.effort !== undefined) {
    const { reasoningEffort } = await chooseModel(
      { model: undefined, effort: options.effort },
      modelOf(agent),
      host.llm,
    )
    agent.configure(reasoningEffort === undefined ? {} : { reasoningEffort })
  }
  return agent
}

function modelOf(agent: Agent): ModelRoute {
  const { provider = '', model = '' } = agent.options
  return { provider, model }
}

function reportUsage(error: UsageError, options: HeadlessOptions, output: Output, host: RunHost): void {
  const { outcome, document } = usageOutcome(error.message)
  if (options.format === 'text') host.streams.err(`${error.message}\n`)
  else output.finished(outcome, document, false)
}

async function writeLastMessage(options: HeadlessOptions, outcome: Outcome, host: RunHost): Promise<Outcome> {
  if (options.lastMessageFile === undefined) return outcome
  try {
    await host.writeFile(options.lastMessageFile, outcome.answer ?? '')
    return outcome
  } catch (error) {
    if (outcome.exitCode !== exitCodes.completed) return outcome
    const message = `--output-last-message: ${errorText(error)}`
    return { ...outcome, ...failed({ code: errorCode(error) ?? 'UNKNOWN', message }) }
  }
}
