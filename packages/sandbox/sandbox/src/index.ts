import type { SandboxPolicyService, SandboxService } from './types.ts'

export { type Area, accessAt, areasOf, canonical, isWithin, tempRoots } from './areas.ts'
export { sandboxErrors, sandboxUnavailable, workdirHidden } from './errors.ts'
export {
  type EscalationArgs,
  type EscalationMode,
  type EscalationRequest,
  escalationParameters,
  resolveEscalation,
} from './escalation.ts'
export { deniedMarker, type EscalationNoun, escalationHint, runnerFailedMarker } from './markers.ts'
export { isSandboxMode, isWider, sandboxModes } from './modes.ts'
export type * from './types.ts'

declare module '@dsh/cordis' {
  interface Context {
    sandbox: SandboxService
    sandboxPolicy: SandboxPolicyService
  }
}
