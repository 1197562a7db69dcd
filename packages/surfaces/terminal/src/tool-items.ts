import type { SessionEvent } from '@dsh/session'
import { type Item, type LiveTool, push, type Transcript } from './items.ts'

function findTool(t: Transcript, callId: string): LiveTool | undefined {
  for (let i = t.items.length - 1; i >= 0; i--) {
    const item = t.items[i] as Item
    if (item.kind === 'tool' && item.callId === callId && item.state !== 'done') return item
  }
  return undefined
}

export function startTool(t: Transcript, callId: string, name: string, args: string, time: number): void {
  const item =
    findTool(t, callId) ?? (push(t, { kind: 'tool', callId, name, args, state: 'running' }, false) as LiveTool)
  item.name = name
  item.args = args
  item.state = 'running'
  item.startedAt = time
  item.version++
}

export function endTool(t: Transcript, event: Extract<SessionEvent, { type: 'tool/result' }>): void {
  const block = event.data.message.content.find((part) => part.type === 'tool-result')
  if (block?.type !== 'tool-result') return
  const item =
    findTool(t, block.toolCallId) ??
    (push(t, { kind: 'tool', callId: block.toolCallId, name: 'tool', args: '', state: 'running' }, false) as LiveTool)
  item.state = 'done'
  item.result = block.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  item.pictures = block.content.flatMap((part) => (part.type === 'image' ? [part.attachment] : []))
  item.isError = block.isError
  item.meta = event.data.meta
  item.endedAt = event.time
  item.settled = true
  item.version++
}
