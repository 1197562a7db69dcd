import { CordisError, Fiber } from 'cordis'
import { FiberPhase } from './state.ts'

/**
 * cordis accepts an effect from a disposer of an unloading fiber, and then never disposes it.
 * Registering while unloading is refused instead, as it is on a disposed fiber.
 */
const assertActive = Fiber.prototype.assertActive
Fiber.prototype.assertActive = function (this: Fiber) {
  assertActive.call(this)
  if (this.state === FiberPhase.unloading) throw new CordisError('INACTIVE_EFFECT')
}
