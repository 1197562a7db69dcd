import type { AttachmentRef, ContentBlock } from '@dsh/llm'

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
  pictures?: readonly AttachmentRef[]
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
export type LiveText = TextItem & ItemState
export type LiveTool = ToolItem & ItemState

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
  /** A request that failed and is asked again; `until` while that is waited for. Gone with the first piece of an answer. */
  retry: { readonly text: string; readonly until?: number; readonly advice?: string } | undefined
  /** `code: message` of the open step's last failed request. */
  lastFailure: string | undefined
  /** Where the last request went. */
  provider: string | undefined
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
    retry: undefined,
    lastFailure: undefined,
    provider: undefined,
    mode: undefined,
    policy: undefined,
    live: new Map(),
    nextId: 1,
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

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}
