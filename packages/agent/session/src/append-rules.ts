import { snapshotJson } from '@dsh/core'
import { sessionError } from './errors.ts'
import { surfaceTypes } from './known-types.ts'
import type { AppendMarker, SurfaceOp } from './types.ts'

/** What may be appended, before the surface is asked. Texts are part of the contract (docs/log-format.md). */

export function snapshotData<T>(type: string, data: T): T {
  try {
    return snapshotJson(data)
  } catch (error) {
    throw invalid(`session event "${type}" carries non-JSON-serializable data`, error)
  }
}

export function refuseLegacyHeader(type: string, data: unknown): void {
  if (type === 'request/header-delta')
    throw invalid(`session event "${type}" uses unsupported legacy request/header-delta format`)
  if (type === 'request/header' && (data as { reason?: unknown } | null)?.reason === 'fallback')
    throw invalid(`session event "${type}" uses unsupported legacy request/header reason "fallback"`)
}

/** The marker, copied and frozen, with only the keys that were given. */
export function snapshotMarker(type: string, marker: AppendMarker | undefined): AppendMarker {
  if (marker === undefined) return {}
  const { surfaceOp, sourceEventSeqs, ignorable } = marker
  try {
    return {
      ...(surfaceOp === undefined ? {} : { surfaceOp: snapshotJson(surfaceOp) }),
      ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs: snapshotSeqs(sourceEventSeqs) }),
      ...(ignorable === true ? { ignorable } : {}),
    }
  } catch (error) {
    throw invalid(`session event "${type}" carries non-JSON-serializable surface metadata`, error)
  }
}

/** Provenance of an answer lists every chunk of it: thousands of integers, so no generic walk for the usual case. */
function snapshotSeqs(seqs: readonly number[]): readonly number[] {
  if (Array.isArray(seqs) && Object.keys(seqs).length === seqs.length && seqs.every(Number.isSafeInteger))
    return Object.freeze([...seqs])
  return snapshotJson(seqs)
}

export function checkMarkerShape(type: string, marker: AppendMarker): void {
  const { surfaceOp, sourceEventSeqs } = marker
  if (!surfaceTypes.has(type)) {
    if (surfaceOp !== undefined)
      throw invalid(`session event "${type}" is not surface-eligible and cannot carry surfaceOp`)
    if (sourceEventSeqs !== undefined)
      throw invalid(`session event "${type}" is not surface-eligible and cannot carry sourceEventSeqs`)
    return
  }
  if (surfaceOp === undefined)
    throw invalid(`session event "${type}" is surface-eligible and requires a surfaceOp marker`)
  if (surfaceOp === 'append') return
  if (typeof surfaceOp !== 'object' || surfaceOp === null || Array.isArray(surfaceOp))
    throw invalid(`session event "${type}" carries an invalid surfaceOp`)
  if (!isReplace(surfaceOp)) throw invalid(`session event "${type}" carries an invalid replace surfaceOp`)
}

function isReplace(op: Exclude<SurfaceOp, 'append'>): boolean {
  return Object.keys(op).length === 3 && op.op === 'replace' && isSeq(op.start) && isSeq(op.end)
}

export function checkSources(type: string, seq: number, sources: readonly number[] | undefined): void {
  if (sources === undefined) return
  if (!Array.isArray(sources)) throw invalid(`sourceEventSeqs on event at seq ${seq} must be an array when present`)
  if (sources.length === 0 && type !== 'assistant/message')
    throw invalid('sourceEventSeqs must not be empty except on assistant/message')
  if (!sources.every(isSeq))
    throw invalid(`session event "${type}" sourceEventSeqs must densely contain non-negative safe integers`)
  if (!isRising(sources) && new Set(sources).size !== sources.length)
    throw invalid('sourceEventSeqs must not contain duplicates')
  for (const source of sources)
    if (source >= seq) throw invalid(`sourceEventSeqs must reference earlier events: ${source} >= current seq ${seq}`)
}

function isRising(seqs: readonly number[]): boolean {
  for (let i = 1; i < seqs.length; i++) if ((seqs[i] as number) <= (seqs[i - 1] as number)) return false
  return true
}

export function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function invalid(message: string, cause?: unknown) {
  return sessionError('SESSION_INVALID_EVENT', message, cause)
}
