import { type JsonObject, snapshotJson } from '@dsh/core'
import { type Document, isMap, LineCounter, parseDocument } from 'yaml'
import { settingsError } from './errors.ts'
import type { SettingsOp } from './types.ts'

/** The editable document; comments and order survive an edit. */
export function parseSettings(text: string, file: string): Document {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true })
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) {
    const line = counter.linePos(fault.pos[0]).line
    throw settingsError('SETTINGS_INVALID', `${file}:${line}: invalid YAML: ${reasonOf(fault)}`)
  }
  if (document.contents !== null && !isMap(document.contents) && document.toJS() !== null) {
    throw settingsError('SETTINGS_INVALID', `${file}:1: must be a mapping of namespaces`)
  }
  return document as unknown as Document
}

function reasonOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === 'MULTIPLE_DOCS'
    ? 'a second document begins here; the file must hold one'
    : (message.split('\n')[0] ?? '')
}

export function sectionOf(document: Document, namespace: string): JsonObject | undefined {
  const section = (document.toJS() as Record<string, unknown> | null)?.[namespace]
  return isObject(section) ? (section as JsonObject) : undefined
}

/** The steps that turn a merge into single edits, so that untouched comments stay. */
export function mergeOps(patch: JsonObject, path: readonly string[] = []): SettingsOp[] {
  return Object.entries(patch).flatMap(([key, value]): SettingsOp[] => {
    const at = [...path, key]
    if (value === null) return [{ op: 'unset', path: at }]
    return isObject(value) ? mergeOps(value as JsonObject, at) : [{ op: 'set', path: at, value }]
  })
}

export function applyOps(document: Document, namespace: string, ops: readonly SettingsOp[]): void {
  for (const op of ops) {
    const path = [namespace, ...op.path]
    if (op.op === 'unset') {
      if (document.hasIn(path)) document.deleteIn(path)
      continue
    }
    for (let depth = 1; depth < path.length; depth++) {
      const node = document.getIn(path.slice(0, depth), true)
      if (!isMap(node)) document.setIn(path.slice(0, depth), document.createNode({}))
    }
    document.setIn(path, document.createNode(snapshotJson(op.value)))
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
