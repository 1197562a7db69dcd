import { isDshError } from '@dsh/core'
import { interruptedTurnClosers, type SessionEvent, surfaceTypes, validateSeed } from '@dsh/session'

interface Open {
  turn: number | undefined
  step: number | undefined
  /** Calls of the open step without a result: whether `tool/call` was seen. */
  readonly calls: Map<string, boolean>
}

type Placed = SessionEvent & { readonly data: { readonly turn?: number; readonly step?: number } }
const inTurn: ReadonlySet<string> = new Set(['step/start', 'step/end', 'turn/end'])
const inStep: ReadonlySet<string> = new Set(['assistant/chunk', 'assistant/message', 'tool/call', 'tool/result'])

/**
 * Builds a log that holds every rule out of events some of whose neighbours are lost: numbers them anew, follows
 * references to their new numbers, opens and closes the turns and steps whose own lines are gone, answers calls whose
 * results are gone, and drops what no longer refers to anything.
 */
export class Rebuild {
  readonly events: SessionEvent[] = []
  readonly notes: string[] = []
  private readonly moved = new Map<number, number>()
  private readonly surface: number[] = []
  private readonly open: Open = { turn: undefined, step: undefined, calls: new Map() }
  private lastTurn = 0
  private lastStep = 0

  add(event: SessionEvent): void {
    const why = this.misfit(event)
    if (why !== undefined) {
      this.notes.push(`seq ${event.seq}: dropped ${event.type}, ${why}`)
      return
    }
    this.openFor(event as Placed)
    const kept = this.renumbered(event)
    if (kept === undefined) {
      this.notes.push(`seq ${event.seq}: dropped ${event.type}, the messages it replaces are lost`)
      return
    }
    this.moved.set(event.seq, kept.seq)
    this.push(kept)
  }

  /** Why an event cannot be kept at all: its own content is broken, or what it belongs to is over or lost. */
  private misfit(event: SessionEvent): string | undefined {
    const alone = { ...event, seq: 0, ...(surfaceTypes.has(event.type) ? { surfaceOp: 'append' } : {}) }
    delete (alone as { sourceEventSeqs?: unknown }).sourceEventSeqs
    try {
      validateSeed([structuredClone(alone) as SessionEvent])
    } catch (error) {
      return isDshError(error) ? error.message : String(error)
    }
    const { turn, step } = (event as Placed).data
    if (event.type === 'turn/start') {
      if (!isCount(turn)) return 'it names no turn'
      return turn <= this.lastTurn ? `turn ${turn} has been` : undefined
    }
    if (!isPlaced(event)) return undefined
    if (!isCount(turn)) return 'it names no turn'
    if (event.type === 'turn/end') {
      const { reason } = event.data
      if (typeof reason?.kind !== 'string') return 'it names no reason'
    } else if (!isCount(step)) return 'it names no step'
    const open = this.open
    if (turn < this.lastTurn || (turn === this.lastTurn && open.turn === undefined)) return `turn ${turn} is over`
    if (event.type !== 'turn/end' && turn === open.turn && step !== undefined) {
      const over = step === this.lastStep && (open.step === undefined || event.type === 'step/start')
      if (step < this.lastStep || over) return `step ${step} has been`
    }
    if (event.type === 'assistant/chunk')
      return typeof event.data.chunk?.type === 'string' ? undefined : 'it holds no chunk'
    if (event.type === 'tool/call' && !(turn === open.turn && step === open.step && open.calls.has(event.data.callId)))
      return `the message that asked for call ${event.data.callId} is lost`
    if (event.type === 'tool/result') {
      const id = callOf(event)
      if (!(turn === open.turn && step === open.step && open.calls.has(id)))
        return `the message that asked for call ${id} is lost`
      if (open.calls.get(id) === false && event.data.error?.code !== 'TOOL_NOT_STARTED')
        return `the line that says call ${id} started is lost`
    }
    return undefined
  }

  /** Closes what `event` shows to be over, and opens what it needs. */
  private openFor(event: Placed): void {
    const { type } = event
    const { turn, step } = event.data
    if (type !== 'turn/start' && !isPlaced(event)) return
    if (type === 'turn/start' || turn !== this.open.turn) this.closeTurn()
    if (type === 'turn/start') return
    if (this.open.turn === undefined) this.synthesize(event, 'turn/start', { turn: turn as number })
    if (type === 'turn/end' || type === 'step/start' || step !== this.open.step) this.closeStep()
    if (type === 'turn/end' || type === 'step/start') return
    if (this.open.step === undefined)
      this.synthesize(event, 'step/start', { turn: turn as number, step: step as number })
    if (type === 'step/end') this.answerCalls()
  }

  private closeTurn(): void {
    this.closeStep()
    if (this.open.turn === undefined) return
    this.notes.push(`closed turn ${this.open.turn}, whose end is lost`)
    for (const closer of interruptedTurnClosers(this.events)) this.push(closer)
  }

  private closeStep(): void {
    const { turn, step } = this.open
    if (turn === undefined || step === undefined) return
    this.answerCalls()
    const last = this.events.at(-1) as SessionEvent
    this.notes.push(`closed step ${step} of turn ${turn}, whose end is lost`)
    this.push({ type: 'step/end', seq: this.events.length, time: last.time, data: { turn, step } })
  }

  private answerCalls(): void {
    if (this.open.calls.size === 0) return
    this.notes.push(`answered ${[...this.open.calls.keys()].join(', ')}, whose results are lost`)
    for (const closer of interruptedTurnClosers(this.events)) if (closer.type === 'tool/result') this.push(closer)
  }

  private synthesize(
    before: SessionEvent,
    type: 'turn/start' | 'step/start',
    data: { turn: number; step?: number },
  ): void {
    this.notes.push(`opened ${type === 'turn/start' ? `turn ${data.turn}` : `step ${data.step}`}, whose start is lost`)
    this.push({ type, seq: this.events.length, time: before.time, data } as SessionEvent)
  }

  /** The event under its new number; undefined when it replaces messages that are all gone. */
  private renumbered(event: SessionEvent): SessionEvent | undefined {
    const seq = this.events.length
    const { sourceEventSeqs, surfaceOp, ...rest } = event
    if (!surfaceTypes.has(event.type)) return { ...rest, seq } as SessionEvent
    const sources = (sourceEventSeqs ?? []).map((old) => this.moved.get(old)).filter((now) => now !== undefined)
    if (surfaceOp === undefined || surfaceOp === 'append') {
      const cited = sources.length > 0 ? { sourceEventSeqs: [...new Set(sources)] } : {}
      return { ...rest, seq, ...cited, surfaceOp: 'append' } as SessionEvent
    }
    const cited = new Set(sources)
    const hit = this.surface.map((node, i) => (cited.has(node) ? i : -1)).filter((i) => i >= 0)
    const [from, to] = [hit[0], hit.at(-1)]
    if (from === undefined || to === undefined) return undefined
    if (event.type === 'tool/result' && from !== to) return undefined
    const nodes = this.surface.slice(from, to + 1)
    return {
      ...rest,
      seq,
      sourceEventSeqs: [...new Set([...sources, ...nodes])],
      surfaceOp: { op: 'replace', start: nodes[0], end: nodes.at(-1) },
    } as SessionEvent
  }

  /** Takes an event that fits, and follows what it opens and closes. */
  private push(event: SessionEvent): void {
    const { open } = this
    this.events.push(event)
    if (surfaceTypes.has(event.type)) this.place(event)
    if (event.type === 'turn/start') {
      if (event.data.turn !== this.lastTurn + 1)
        this.notes.push(`turn ${event.data.turn} follows turn ${this.lastTurn}`)
      open.turn = this.lastTurn = event.data.turn
      this.lastStep = 0
    } else if (event.type === 'turn/end') open.turn = undefined
    else if (event.type === 'step/start') open.step = this.lastStep = event.data.step
    else if (event.type === 'step/end') {
      open.step = undefined
      open.calls.clear()
    } else if (event.type === 'assistant/message') {
      for (const block of event.data.message.content) if (block.type === 'tool-call') open.calls.set(block.id, false)
    } else if (event.type === 'tool/call') open.calls.set(event.data.callId, true)
    else if (event.type === 'tool/result' && isPlaced(event)) open.calls.delete(callOf(event))
  }

  private place({ seq, surfaceOp }: SessionEvent): void {
    if (surfaceOp === undefined || surfaceOp === 'append') this.surface.push(seq)
    else {
      const from = this.surface.indexOf(surfaceOp.start)
      this.surface.splice(from, this.surface.indexOf(surfaceOp.end) - from + 1, seq)
    }
  }
}

/** A result that rewrites an older one keeps that one's turn and step, wherever it stands. */
function isPlaced({ type, surfaceOp }: SessionEvent): boolean {
  return inTurn.has(type) || (inStep.has(type) && (surfaceOp === undefined || surfaceOp === 'append'))
}

function callOf(event: Extract<SessionEvent, { type: 'tool/result' }>): string {
  const block = event.data.message.content[0]
  return block?.type === 'tool-result' ? block.toolCallId : ''
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
