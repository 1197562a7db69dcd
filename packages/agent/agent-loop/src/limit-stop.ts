import type { LimitHit } from './limits.ts'

/** Thrown through a step to end its turn at a limit. */
export class LimitStop extends Error {
  readonly hit: LimitHit
  constructor(hit: LimitHit) {
    super(hit.reason)
    this.name = 'LimitStop'
    this.hit = hit
  }
}
