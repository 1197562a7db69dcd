import { isSandboxMode, type SandboxMode } from '@dsh/sandbox'
import type { Fold } from '@dsh/session'

/** The session's last `sandbox/mode`. A mode that this version does not know is taken as the narrowest. */
export const sessionMode: Fold<SandboxMode | undefined> = {
  initial: () => undefined,
  apply: (mode, event) =>
    event.type !== 'sandbox/mode' ? mode : isSandboxMode(event.data.mode) ? event.data.mode : 'read-only',
}
