import type { PreStep } from '@dsh/agent'
import type { Fold, Session } from '@dsh/session'
import type { TokenMeter } from '@dsh/token-meter'

/** The window that the last request was made for. */
const contextWindow: Fold<number | undefined> = {
  initial: () => undefined,
  apply: (last, event) => (event.type === 'request/context' ? event.data.contextWindow : last),
}

/** How full the window will be with what enters the step; undefined while nobody knows its size. */
export function pressureOf(
  { agent, claimed }: PreStep,
  meter: TokenMeter,
): { readonly tokens: number; readonly window: number } | undefined {
  const { session } = agent
  const window = session.fold(contextWindow)
  if (window === undefined || session.requestHeader === undefined) return undefined
  const entering = claimed.reduce((sum, message) => sum + meter.estimateMessage(message), 0)
  return { tokens: meter.contextTokens(session) + entering, window }
}

/** Compactions tried in the step that is open now. */
export function triesInStep(session: Session): number {
  let tries = 0
  for (let i = session.events.length - 1; i >= 0; i--) {
    const event = session.events[i]
    if (event?.type === 'step/start') break
    if (event?.type === 'compaction/start') tries++
  }
  return tries
}
