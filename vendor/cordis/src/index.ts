/** The one door to cordis: everything else in this tree imports the framework from here. */
import './access.ts'
import './guard.ts'
import './status.ts'

export * from 'cordis'
export { notify } from './notify.ts'
export { createScope, type Scope, scopeOf, scopeTarget } from './scope.ts'
export { FiberPhase, fiberError } from './state.ts'
