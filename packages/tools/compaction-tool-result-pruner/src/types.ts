import type { Session } from '@dsh/session'

/** `ctx.toolResultPruner` */
export interface ToolResultPruner {
  /** Tokens that pruning these surface nodes would free. */
  wouldFree(session: Session, seqs: readonly number[]): number
  /** Shortens the long results among these surface nodes in the log's projection. Gives the tokens freed; 0 = nothing changed. */
  prune(session: Session, seqs: readonly number[]): number
}
