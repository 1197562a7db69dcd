import type { JsonObject, JsonValue } from '@dsh/core'

export interface SettingsWrite {
  /** Refuse with `SETTINGS_CONFLICT` if the file is not at this revision any more. */
  readonly expectedRevision?: string
}

export type SettingsOp =
  | { readonly op: 'set'; readonly path: readonly string[]; readonly value: JsonValue }
  | { readonly op: 'unset'; readonly path: readonly string[] }

/**
 * `ctx.settings`: what the person chose, one section per row, in one file of the home. The launcher composes the file
 * as a layer above every patch, so a section reaches its row as config; this service reads and writes the file.
 */
export interface Settings {
  readonly file: string
  /** Identifies the content; changes with every write. */
  revision(): Promise<string>
  section(namespace: string): Promise<JsonObject | undefined>
  /** Deep merge; lists are replaced, `null` deletes. */
  update(namespace: string, patch: JsonObject, options?: SettingsWrite): Promise<void>
  replace(namespace: string, section: JsonObject | undefined, options?: SettingsWrite): Promise<void>
  mutate(namespace: string, ops: readonly SettingsOp[], options?: SettingsWrite): Promise<void>
}
