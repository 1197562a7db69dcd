import type { ContentBlock, UserMessage } from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'

/** What a person sees of a session: a list of items folded from its events. Pure; the same for live and resumed sessions. */

export interface PromptItem {
  readonly kind: 'prompt'
  readonly text: string
}
export interface NoticeItem {
  readonly kind: 'notice'
  readonly tone: 'info' | 'warn' | 'bad'
  text: string
}
export interface TextItem {
  readonly kind: 'answer' | 'reasoning'
  text: string
  done: boolean
  interrupted?: boolean
}
export interface ToolItem {
  readonly kind: 'tool'
  readonly callId: string
  name: string
  /** The raw argument string, growing while it streams. */
  args: string
  state: 'streaming' | 'running' | 'done'
  result?: string
  images?: number
  isError?: boolean
  meta?: unknown
  startedAt?: number
  endedAt?: number
}
export type ItemBody = PromptItem | NoticeItem | TextItem | ToolItem
export interface ItemState {
  readonly id: number
  /** Grows with every change; renders are cached by it. */
  version: number
  /** Will not change any more. */
  settled: boolean
}
export type Item = ItemBody & ItemState
type LiveText = TextItem & ItemState
type LiveTool = ToolItem & ItemState

export interface Todo {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export interface Transcript {
  readonly items: Item[]
  /** Prompts that wait for their turn or step, in order. */
  queued: { readonly id: string; readonly text: string; readonly target: 'next-turn' | 'next-step' }[]
  todos: readonly Todo[]
  title: string | undefined
  /** True between turn/start and turn/end. */
  turnOpen: boolean
  turnStartedAt: number | undefined
  /** Characters streamed in the open step and when the first came, for the rate. */
  streamed: number
  streamedSince: number | undefined
  retryUntil: number | undefined
  /** Mode and policy as the log says them. */
  mode: string | undefined
  policy: string | undefined
  live: Map<string, Item>
  nextId: number
}

export function createTranscript(): Transcript {
  return {
    items: [],
    queued: [],
    todos: [],
    title: undefined,
    turnOpen: false,
    turnStartedAt: undefined,
    streamed: 0,
    streamedSince: undefined,
    retryUntil: undefined,
    mode: undefined,
    policy: undefined,
    live: new Map(),
    nextId: 1,
  }
}

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
      break
    case 'user/message':
      addUserMessage(t, event.data)
      break
    case 'assistant/chunk':
      t.streamedSince ??= event.time
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
      dropLive(t)
      t.retryUntil = event.time + event.data.delayMs
      push(t, {
        kind: 'notice',
        tone: 'warn',
        text: `request failed (${event.data.failure.code}: ${event.data.failure.message}); retry ${event.data.retry}${
          event.data.maxRetries === undefined ? '' : ` of ${event.data.maxRetries}`
        } in ${seconds(event.data.delayMs)}`,
      })
      break
    case 'llm/retry-started':
      t.retryUntil = undefined
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
    case 'turn/limit':
      push(t, {
        kind: 'notice',
        tone: 'warn',
        text: `limit reached: ${event.data.limit} (${event.data.value} of ${event.data.max})`,
      })
      break
    default:
      break
  }
}

export function push(t: Transcript, body: ItemBody, settled = true): Item {
  const item = { ...body, id: t.nextId++, version: 0, settled } as Item
  t.items.push(item)
  return item
}

/** Adds a line that is no event: the surface's own words. */
export function say(t: Transcript, text: string, tone: NoticeItem['tone'] = 'info'): Item {
  return push(t, { kind: 'notice', tone, text })
}

export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : block.type === 'image' ? '[image]' : '')).join('')
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

type Chunk = Extract<SessionEvent, { type: 'assistant/chunk' }>['data']['chunk']

function addChunk(t: Transcript, step: number, chunk: Chunk): void {
  switch (chunk.type) {
    case 'block-start':
      if (chunk.blockType !== 'tool-call')
        liveText(t, step, chunk.index, chunk.blockType === 'text' ? 'answer' : 'reasoning')
      break
    case 'text-delta':
    case 'reasoning-delta': {
      const item = liveText(t, step, chunk.index, chunk.type === 'text-delta' ? 'answer' : 'reasoning')
      item.text += chunk.text
      item.version++
      t.streamed += chunk.text.length
      break
    }
    case 'tool-call-delta': {
      const item = liveTool(t, step, chunk.index, chunk.id)
      if (item.name === '' && chunk.name !== undefined) item.name = chunk.name
      item.args += chunk.argumentsDelta
      item.version++
      t.streamed += chunk.argumentsDelta.length
      break
    }
    case 'finish':
      if (chunk.reason.kind === 'error') dropLive(t)
      break
    default:
      break
  }
}

function liveText(t: Transcript, step: number, index: number, kind: 'answer' | 'reasoning'): LiveText {
  const key = `${step}:${index}`
  const known = t.live.get(key)
  if (known !== undefined && (known.kind === 'answer' || known.kind === 'reasoning')) return known as LiveText
  const item = push(t, { kind, text: '', done: false }, false)
  t.live.set(key, item)
  return item as LiveText
}

function liveTool(t: Transcript, step: number, index: number, callId: string): LiveTool {
  const key = `${step}:${index}`
  const known = t.live.get(key)
  if (known?.kind === 'tool') return known
  const item = push(t, { kind: 'tool', callId, name: '', args: '', state: 'streaming' }, false)
  t.live.set(key, item)
  return item as LiveTool
}

/** The message is authoritative: live blocks take its texts, and blocks it does not have disappear. */
function settleMessage(t: Transcript, step: number, content: readonly ContentBlock[], interrupted: boolean): void {
  const live = [...t.live.entries()].filter(([key]) => key.startsWith(`${step}:`)).map(([, item]) => item)
  t.live.clear()
  const texts = live.filter((item) => item.kind === 'answer' || item.kind === 'reasoning')
  const tools = live.filter((item) => item.kind === 'tool')
  for (const block of content) {
    if (block.type === 'text' || block.type === 'reasoning') {
      const kind = block.type === 'text' ? 'answer' : 'reasoning'
      const at = texts.findIndex((item) => item.kind === kind)
      const item = (at < 0 ? push(t, { kind, text: '', done: true }) : texts.splice(at, 1)[0]) as LiveText
      if (item.text !== block.text || !item.done) item.version++
      item.text = block.text
      item.done = true
      item.settled = true
      if (interrupted) item.interrupted = true
    } else if (block.type === 'tool-call') {
      const at = tools.findIndex(
        (item) => item.kind === 'tool' && (item.callId === block.id || item.name === block.name),
      )
      const known = at < 0 ? undefined : (tools.splice(at, 1)[0] as LiveTool)
      const item =
        known ??
        (push(t, { kind: 'tool', callId: block.id, name: block.name, args: '', state: 'streaming' }, false) as LiveTool)
      item.name = block.name
      item.args = block.arguments
      ;(item as { callId: string }).callId = block.id
      item.version++
    }
  }
  remove(t, [...texts, ...tools])
}

/** A failed attempt's half answer is not part of the conversation. */
function dropLive(t: Transcript): void {
  remove(t, [...t.live.values()])
  t.live.clear()
  t.streamed = 0
}

function remove(t: Transcript, gone: readonly Item[]): void {
  for (const item of gone) {
    const at = t.items.lastIndexOf(item)
    if (at >= 0) t.items.splice(at, 1)
  }
}

function findTool(t: Transcript, callId: string): LiveTool | undefined {
  for (let i = t.items.length - 1; i >= 0; i--) {
    const item = t.items[i] as Item
    if (item.kind === 'tool' && item.callId === callId && item.state !== 'done') return item
  }
  return undefined
}

function startTool(t: Transcript, callId: string, name: string, args: string, time: number): void {
  const item =
    findTool(t, callId) ?? (push(t, { kind: 'tool', callId, name, args, state: 'running' }, false) as LiveTool)
  item.name = name
  item.args = args
  item.state = 'running'
  item.startedAt = time
  item.version++
}

function endTool(t: Transcript, event: Extract<SessionEvent, { type: 'tool/result' }>): void {
  const block = event.data.message.content.find((part) => part.type === 'tool-result')
  if (block?.type !== 'tool-result') return
  const item =
    findTool(t, block.toolCallId) ??
    (push(t, { kind: 'tool', callId: block.toolCallId, name: 'tool', args: '', state: 'running' }, false) as LiveTool)
  item.state = 'done'
  item.result = block.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  item.images = block.content.filter((part) => part.type === 'image').length
  item.isError = block.isError
  item.meta = event.data.meta
  item.endedAt = event.time
  item.settled = true
  item.version++
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
  t.retryUntil = undefined
  switch (reason.kind) {
    case 'error':
      say(t, `${reason.error.code}: ${reason.error.message}`, 'bad')
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

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}
