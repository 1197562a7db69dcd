import type {} from '@dsh/session'

declare module '@dsh/session' {
  interface SessionEventMap {
    /** Ours, ignorable: why a prompt was refused; it is back in its queue. */
    'turn/blocked': { readonly turn: number; readonly reason?: string; readonly messageIds: readonly string[] }
  }
}
