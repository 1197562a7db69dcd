import type { SandboxMode } from '@dsh/sandbox'
import type { Session } from '@dsh/session'
import type { ApprovalPolicy } from '@dsh/user-approval'

export interface PermissionPreset {
  readonly sandbox: SandboxMode
  readonly approval: ApprovalPolicy
}

export interface PresetOption extends PermissionPreset {
  /** The derived `custom` is shown, never offered. */
  readonly name: string
  readonly displayName: string
}

/** `ctx.permissionPresets` */
export interface PermissionPresetsService {
  readonly names: readonly string[]
  /** Of a new session. */
  readonly defaultPreset: string
  /** The name whose two values hold in this session, or `custom`. */
  current(session: Session): string
  /** Throws for an unknown name. */
  resolve(name: string): PermissionPreset
  /** Takes effect with the next call. Selecting what already holds writes nothing. */
  set(session: Session, name: string): void
  optionOf(name: string): PresetOption | undefined
}
