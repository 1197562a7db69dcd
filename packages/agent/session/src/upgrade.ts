import { surfaceTypes } from './known-types.ts'
import type { SessionEvent } from './types.ts'

type Loose = Record<string, unknown>

/** Read-time upgrades of pre-release logs of the same format version. Gives the same object where nothing is old. */
export function upgradeEvent(event: SessionEvent, sessionId: string): SessionEvent {
  const old = event as unknown as Loose
  switch (old['type']) {
    case 'steering/message':
      return withMessageId(
        { ...old, type: 'user/message', surfaceOp: old['surfaceOp'] ?? 'append' } as unknown as SessionEvent,
        sessionId,
      )
    case 'turn/start': {
      const { trigger, ...data } = old['data'] as Loose
      return trigger === undefined ? event : ({ ...old, data } as unknown as SessionEvent)
    }
    case 'turn/end':
      return upgradeTurnEnd(old)
    default:
      return surfaceTypes.has(event.type) ? withMessageId(event, sessionId) : event
  }
}

function upgradeTurnEnd(event: Loose): SessionEvent {
  const data = event['data'] as Loose
  const reason = data['reason'] as Loose | undefined
  const upgraded = reason === undefined ? undefined : upgradeReason(reason)
  if (upgraded === undefined || upgraded === reason) return event as unknown as SessionEvent
  return { ...event, data: { ...data, reason: upgraded } } as unknown as SessionEvent
}

function upgradeReason(reason: Loose): Loose {
  if (reason['kind'] === 'aborted' && reason['reason'] === undefined)
    return { kind: 'aborted', reason: { kind: 'legacy' } }
  if (reason['kind'] === 'disposed') return { kind: 'aborted', reason: { kind: 'disposed' } }
  if (reason['kind'] === 'error' && reason['error'] === undefined) {
    const failure = reason['failure'] ?? {
      message: reason['message'] ?? 'unknown error',
      code: reason['code'] ?? 'UNKNOWN',
    }
    return { kind: 'error', error: failure }
  }
  return reason
}

function withMessageId(event: SessionEvent, sessionId: string): SessionEvent {
  const isUser = event.type === 'user/message'
  const data = event.data as unknown as Loose
  const message = (isUser ? data : data?.['message']) as Loose | undefined
  if (typeof message !== 'object' || message === null || message['id'] !== undefined) return event
  const identified = { ...message, id: `legacy-message:${sessionId}:${event.seq}` }
  return { ...event, data: isUser ? identified : { ...data, message: identified } } as unknown as SessionEvent
}
