import type { UserMessage } from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'
import { push, say, type Transcript, textOf } from './items.ts'
import { addChunk, settleMessage } from './live-blocks.ts'
import { addRetry, failureText, startRetry } from './retries.ts'
import { endTool, startTool } from './tool-items.ts'

/** Folds one event into what a person sees; the same for live and resumed sessions. */
export function applyEvent(t: Transcript, event: SessionEvent): void {
  switch (event.type) {
    case 'turn/start':
      t.turnOpen = true
      t.turnStartedAt = event.time
      break
    case 'turn/end':
      endTurn(t, event.data.reason)
      break
    case 'step/start':
      t.streamed = 0
      t.streamedSince = undefined
      t.retry = undefined
      t.lastFailure = undefined
      break
    case 'user/message':
      addUserMessage(t, event.data)
      break
    case 'assistant/chunk':
      t.streamedSince ??= event.time
      t.retry = undefined
      addChunk(t, event.data.step, event.data.chunk)
      break
    case 'assistant/message':
      settleMessage(t, event.data.step, event.data.message.content, event.data.interrupted === true)
      break
    case 'tool/call':
      startTool(t, event.data.callId, event.data.name, event.data.arguments, event.time)
      break
    case 'tool/result':
      endTool(t, event)
      break
    case 'llm/retry':
      addRetry(t, event)
      break
    case 'llm/retry-started':
      startRetry(t)
      break
    case 'request/header':
      t.provider = event.data.header.config.provider
      break
    case 'agent/inbox/spliced':
      spliceQueue(t, event.data)
      break
    case 'compaction/start':
      push(t, { kind: 'notice', tone: 'info', text: 'compacting the history…' })
      break
    case 'compaction/end':
      push(
        t,
        event.data.error === undefined
          ? { kind: 'notice', tone: 'info', text: 'history compacted' }
          : { kind: 'notice', tone: 'warn', text: `compaction failed: ${event.data.error}` },
      )
      break
    case 'todo/write':
      t.todos = event.data.todos
      break
    case 'session/title':
      t.title = event.data.title
      break
    case 'sandbox/mode':
      t.mode = event.data.mode
      break
    case 'approval/policy':
      t.policy = event.data.policy
      break
    case 'approval/decided':
      push(t, {
        kind: 'notice',
        tone: event.data.outcome === 'allowed-once' ? 'info' : 'warn',
        text: `approval: ${event.data.outcome}`,
      })
      break
    case 'session/cwd':
      push(t, { kind: 'notice', tone: 'info', text: `directory: ${event.data.cwd}` })
      break
    default:
      break
  }
}

function addUserMessage(t: Transcript, message: UserMessage): void {
  const source = message.source as {
    kind: string
    plugin?: string
    form?: string
    summary?: string
    changes?: readonly { path?: string }[]
  }
  if (source.kind === 'user') {
    push(t, { kind: 'prompt', text: textOf(message.content) })
    return
  }
  if (source.kind === 'agent-instructions') {
    const paths = (source.changes ?? []).flatMap((change) => (change.path === undefined ? [] : [change.path]))
    push(t, { kind: 'notice', tone: 'info', text: `instructions: ${paths.join(', ') || 'updated'}` })
    return
  }
  if (source.form === 'notice' && source.summary !== undefined)
    push(t, { kind: 'notice', tone: 'info', text: source.summary })
}

function spliceQueue(t: Transcript, data: Extract<SessionEvent, { type: 'agent/inbox/spliced' }>['data']): void {
  const mine = t.queued.filter((entry) => entry.target === data.target)
  const others = t.queued.filter((entry) => entry.target !== data.target)
  const inserted = data.inserted.map((message) => ({
    id: message.id,
    text: message.source.kind === 'user' ? textOf(message.content) : '',
    target: data.target,
  }))
  mine.splice(data.start, data.removedCount ?? 0, ...inserted)
  t.queued = [...others, ...mine]
}

type EndReason = Extract<SessionEvent, { type: 'turn/end' }>['data']['reason']

function endTurn(t: Transcript, reason: EndReason): void {
  dropUnfinished(t)
  t.turnOpen = false
  t.retry = undefined
  t.lastFailure = undefined
  switch (reason.kind) {
    case 'error':
      say(t, failureText(reason.error, t), 'bad')
      break
    case 'aborted':
      say(t, reason.reason.kind === 'hook' ? `stopped: ${reason.reason.reason}` : 'interrupted', 'warn')
      break
    case 'max-tokens':
      say(t, 'the answer was cut at the output limit', 'warn')
      break
    case 'blocked':
      say(t, 'the prompt was blocked; it is back in the queue', 'warn')
      break
    case 'interrupted':
      say(t, 'this turn ended with the process that ran it', 'warn')
      break
    default:
      break
  }
}

function dropUnfinished(t: Transcript): void {
  t.live.clear()
  for (const item of t.items) {
    if (item.settled) continue
    if (item.kind === 'answer' || item.kind === 'reasoning') item.done = true
    if (item.kind === 'tool' && item.state !== 'done') {
      item.state = 'done'
      item.isError = true
      item.result ??= 'not run'
    }
    item.settled = true
    item.version++
  }
}
