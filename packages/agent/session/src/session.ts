import type { Message } from '@dsh/llm'
import { refuseLegacyHeader, snapshotData, snapshotMarker } from './append-rules.ts'
import { sessionError } from './errors.ts'
import { readOnlyView } from './event-view.ts'
import { knownTypes } from './known-types.ts'
import { Surface } from './surface.ts'
import type {
  AppendMarker,
  Fold,
  RequestHeader,
  Session,
  SessionEvent,
  SessionEventMap,
  SessionEventOf,
  SessionEventType,
  SessionHeader,
  SurfaceDigest,
} from './types.ts'

/** Announces a committed event; may not throw. */
export type Publish = (session: Session, event: SessionEvent) => void

interface FoldState {
  state: unknown
  /** Seq of the next event to apply. */
  next: number
}

/** An append-only log in memory. Knows nothing of disks and hosts. */
export class LiveSession implements Session {
  readonly header: SessionHeader
  readonly events: readonly SessionEvent[]
  readonly firstLiveSeq: number
  readonly surface: readonly number[]
  private readonly log: SessionEvent[]
  private readonly projection: Surface
  private readonly folds = new Map<object, FoldState>()
  private readonly publish: Publish
  private readonly now: () => number
  private publishing = false
  private disposed = false
  private directory: string | undefined
  private lastHeader: RequestHeader | undefined
  private turn: number | undefined

  /** `seed` must have passed `validateSeed`. */
  constructor(header: SessionHeader, seed: readonly SessionEvent[], publish: Publish, now: () => number = Date.now) {
    this.header = header
    this.log = [...seed]
    this.events = readOnlyView(this.log)
    this.firstLiveSeq = seed.length
    this.publish = publish
    this.now = now
    this.directory = header.cwd
    this.projection = new Surface((seq) => this.log[seq])
    this.surface = readOnlyView(this.projection.nodes)
    for (const event of seed) this.take(event)
    if (seed.length > 0 && seed.at(-1)?.type !== 'session/end-seed') this.append('session/end-seed', {})
  }

  get id(): string {
    return this.header.id
  }
  get cwd(): string | undefined {
    return this.directory
  }
  get requestHeader(): RequestHeader | undefined {
    return this.lastHeader
  }
  get openTurn(): number | undefined {
    return this.turn
  }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], marker?: AppendMarker): SessionEventOf<T> {
    const ownData = snapshotData(type, data)
    refuseLegacyHeader(type, ownData)
    const ownMarker = snapshotMarker(type, marker)
    if (this.disposed) throw sessionError('SESSION_DISPOSED', `session "${this.id}" is disposed`)
    if (this.publishing)
      throw sessionError(
        'SESSION_REENTRANT_APPEND',
        'session append cannot reenter while another append is being published',
      )
    const event = Object.freeze({
      type,
      seq: this.log.length,
      time: this.now(),
      data: ownData,
      ...(ownMarker.sourceEventSeqs === undefined ? {} : { sourceEventSeqs: ownMarker.sourceEventSeqs }),
      ...(ownMarker.surfaceOp === undefined ? {} : { surfaceOp: ownMarker.surfaceOp }),
      ...(ownMarker.ignorable === true || !knownTypes.has(type) ? { ignorable: true as const } : {}),
    }) as unknown as SessionEventOf<T>
    const asEvent = event as unknown as SessionEvent
    this.projection.check(asEvent)
    this.publishing = true
    try {
      this.log.push(asEvent)
      this.take(asEvent)
      this.publish(this, asEvent)
    } finally {
      this.publishing = false
    }
    return event
  }

  deriveMessages(): readonly Message[] {
    return this.projection.messages()
  }

  surfaceDigest(): SurfaceDigest {
    return this.projection.digest()
  }

  fold<S>(fold: Fold<S>): S {
    let entry = this.folds.get(fold)
    if (entry === undefined) {
      entry = { state: fold.initial(this.header), next: 0 }
      this.folds.set(fold, entry)
    }
    while (entry.next < this.log.length) {
      entry.state = fold.apply(entry.state as S, this.log[entry.next] as SessionEvent)
      entry.next++
    }
    return entry.state as S
  }

  /** Later appends are refused. */
  close(): void {
    this.disposed = true
  }

  private take(event: SessionEvent): void {
    this.projection.apply(event)
    if (event.type === 'request/header') this.lastHeader = event.data.header
    else if (event.type === 'session/cwd') this.directory = event.data.cwd
    else if (event.type === 'turn/start') this.turn = event.data.turn
    else if (event.type === 'turn/end') this.turn = undefined
  }
}
