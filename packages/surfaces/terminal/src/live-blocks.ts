import type { ContentBlock } from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'
import { type Item, type LiveText, type LiveTool, push, type Transcript } from './items.ts'

/** The blocks of the open step: they grow with the stream, and the message has the last word. */

type Chunk = Extract<SessionEvent, { type: 'assistant/chunk' }>['data']['chunk']

export function addChunk(t: Transcript, step: number, chunk: Chunk): void {
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
export function settleMessage(
  t: Transcript,
  step: number,
  content: readonly ContentBlock[],
  interrupted: boolean,
): void {
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
export function dropLive(t: Transcript): void {
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
