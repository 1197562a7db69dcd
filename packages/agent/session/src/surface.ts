import { isDeepStrictEqual } from 'node:util'
import type { Message } from '@dsh/llm'
import { checkMarkerShape, checkSources, invalid } from './append-rules.ts'
import { chain, chainStart, messageHash } from './digest.ts'
import { surfaceTypes } from './known-types.ts'
import type { SessionEvent, SessionEventOf, SurfaceDigest } from './types.ts'

/** The message an event shows to the model; an empty answer shows none. */
export function messageOf(event: SessionEvent): Message | undefined {
  if (event.type === 'user/message') return event.data
  if (event.type === 'tool/result') return event.data.message
  if (event.type === 'assistant/message') return event.data.message.content.length > 0 ? event.data.message : undefined
  return undefined
}

interface Range {
  readonly from: number
  readonly to: number
}

/** The ordered list of surface nodes, the messages they show and the hash chain over those. */
export class Surface {
  /** Seqs of the nodes, in model order. */
  readonly nodes: number[] = []
  private readonly shown: (Message | undefined)[] = []
  /** `shown` without the gaps; grows in step with it, and is made anew after a replacement. */
  private visible: Message[] = []
  private readonly digests: Buffer[] = []
  private generation = 0
  private snapshot: readonly Message[] | undefined
  private readonly eventAt: (seq: number) => SessionEvent | undefined

  constructor(eventAt: (seq: number) => SessionEvent | undefined) {
    this.eventAt = eventAt
  }

  /** Throws the exact text of the first rule that `event` breaks; changes nothing. */
  check(event: SessionEvent): void {
    checkMarkerShape(event.type, event)
    checkSources(event.type, event.seq, event.sourceEventSeqs)
    if (surfaceTypes.has(event.type)) this.range(event)
  }

  /** Takes an event that `check` accepted. */
  apply(event: SessionEvent): void {
    if (!surfaceTypes.has(event.type)) return
    this.snapshot = undefined
    const range = event.surfaceOp === 'append' ? undefined : this.range(event)
    const message = messageOf(event)
    if (range === undefined) {
      this.nodes.push(event.seq)
      this.shown.push(message)
      if (message !== undefined) this.visible.push(message)
      return
    }
    const removed = range.to - range.from + 1
    this.nodes.splice(range.from, removed, event.seq)
    this.shown.splice(range.from, removed, message)
    this.visible = this.shown.filter((one) => one !== undefined)
    this.digests.length = Math.min(this.digests.length, range.from)
    this.generation++
  }

  messages(): readonly Message[] {
    this.snapshot ??= Object.freeze(this.visible.slice())
    return this.snapshot
  }

  digest(): SurfaceDigest {
    for (let i = this.digests.length; i < this.shown.length; i++) {
      const previous = this.digests[i - 1] ?? chainStart
      const message = this.shown[i]
      this.digests.push(message === undefined ? previous : chain(previous, messageHash(message, true)))
    }
    return {
      generation: this.generation,
      count: this.visible.length,
      digest: (this.digests.at(-1) ?? chainStart).toString('hex'),
    }
  }

  private range(event: SessionEvent): Range | undefined {
    const op = event.surfaceOp
    if (op === undefined || op === 'append') return undefined
    const from = this.nodes.indexOf(op.start)
    if (from < 0) throw invalid(`surface replace: start seq ${op.start} not found in surface`)
    const to = this.nodes.indexOf(op.end)
    if (to < 0) throw invalid(`surface replace: end seq ${op.end} not found in surface`)
    if (from > to)
      throw invalid(`surface replace: start seq ${op.start} (index ${from}) is after end seq ${op.end} (index ${to})`)
    const cited = new Set(event.sourceEventSeqs)
    const missing = this.nodes.slice(from, to + 1).filter((seq) => !cited.has(seq))
    if (missing.length > 0)
      throw invalid(
        `surface replace: sourceEventSeqs must include every shadowed surface node; missing ${missing.join(', ')}`,
      )
    if (event.type === 'tool/result') this.checkResultRewrite(event, { from, to })
    return { from, to }
  }

  private checkResultRewrite(event: SessionEventOf<'tool/result'>, { from, to }: Range): void {
    if (from !== to) throw invalid('tool/result surface replacement must rewrite exactly one current node')
    const target = this.eventAt(this.nodes[from] as number)
    if (target?.type !== 'tool/result')
      throw invalid('tool/result surface replacement must target a current tool/result')
    if (!isDeepStrictEqual(withoutContent(target.data), withoutContent(event.data)))
      throw invalid('tool/result surface replacement may change only content')
  }
}

function withoutContent(data: SessionEventOf<'tool/result'>['data']): unknown {
  const blocks = data.message.content.map((block) => ({ ...block, content: null }))
  return { ...data, message: { ...data.message, content: blocks } }
}

/** What the model saw at the end of a plain list of events, computed from nothing else. */
export function deriveFrom(events: Iterable<SessionEvent>): readonly Message[] {
  return surfaceOf(events).messages()
}

/** A surface that reads plain events, one after the other. */
export class PlainSurface extends Surface {
  private readonly bySeq: Map<number, SessionEvent>

  constructor() {
    const bySeq = new Map<number, SessionEvent>()
    super((seq) => bySeq.get(seq))
    this.bySeq = bySeq
  }

  take(event: SessionEvent): void {
    if (!surfaceTypes.has(event.type)) return
    this.check(event)
    this.bySeq.set(event.seq, event)
    this.apply(event)
  }
}

export function surfaceOf(events: Iterable<SessionEvent>): PlainSurface {
  const surface = new PlainSurface()
  for (const event of events) surface.take(event)
  return surface
}
