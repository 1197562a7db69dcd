import { interruptedTurnClosers, type SessionEvent, sessionError } from '@dsh/session'

/** The events a fork inherits: up to `boundary` (a seq, inclusive; default the last), never ending inside a turn. */
export function forkSeed(
  sourceId: string,
  events: readonly SessionEvent[],
  boundary?: number,
): readonly SessionEvent[] {
  const last = boundary ?? events.length - 1
  if (!Number.isInteger(last) || last < -1 || last >= events.length || (boundary !== undefined && last < 0))
    throw sessionError(
      'INVALID_BOUNDARY',
      `cannot fork session "${sourceId}" at ${String(boundary)}: it has events 0 to ${events.length - 1}`,
    )
  const seed = events.slice(0, last + 1)
  const open = openTurn(seed)
  if (open !== undefined)
    throw sessionError('OPEN_TURN', `cannot fork session "${sourceId}" at ${last}: it ends inside open turn ${open}`)
  return seed
}

/** A stored log whose writer died: closed as a resume would close it. */
export function closedEvents(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return [...events, ...interruptedTurnClosers(events)]
}

function openTurn(events: readonly SessionEvent[]): number | undefined {
  const last = events.findLast((event) => event.type === 'turn/start' || event.type === 'turn/end')
  return last?.type === 'turn/start' ? last.data.turn : undefined
}
