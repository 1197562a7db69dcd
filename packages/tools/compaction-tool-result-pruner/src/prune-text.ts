export interface PruneRule {
  readonly thresholdChars: number
  readonly headChars: number
  readonly tailChars: number
  /** Lines about errors are kept out of the middle. */
  readonly keepErrorLines: boolean
}

export const pruneMarker = '\n\n[... tool result middle pruned ...]\n\n'

const ERROR_LINE =
  /\b(error|exception|fail(ed|ure|s)?|fatal|panic(ked)?|traceback|assert(ion)?|denied|refused|not found|no such|undefined|unresolved|cannot|can't)\b|\bE[A-Z]{3,}\b/i
const MAX_KEPT_LINES = 20
const MAX_KEPT_CHARS = 1024
const MAX_LINE_CHARS = 200

/** Head, marker, tail: in code points. Undefined when the text is short enough to stay. */
export function pruneText(text: string, rule: PruneRule): string | undefined {
  if (text.length <= rule.thresholdChars) return undefined
  const points = Array.from(text)
  if (points.length <= rule.thresholdChars) return undefined
  const head = points.slice(0, rule.headChars).join('')
  const tail = rule.tailChars === 0 ? '' : points.slice(-rule.tailChars).join('')
  const kept = rule.keepErrorLines ? errorLines(points, rule) : []
  const middle = kept.length === 0 ? '' : `${kept.join('\n')}${pruneMarker}`
  return `${head}${pruneMarker}${middle}${tail}`
}

/** Whole lines of the middle that speak of errors, as many as fit below the threshold. */
function errorLines(points: readonly string[], rule: PruneRule): string[] {
  const fixed = rule.headChars + rule.tailChars + 2 * pruneMarker.length
  let room = Math.min(MAX_KEPT_CHARS, rule.thresholdChars - fixed)
  const lines = points
    .slice(rule.headChars, points.length - rule.tailChars)
    .join('')
    .split('\n')
    .slice(1, -1)
  const kept: string[] = []
  for (const line of lines) {
    if (!ERROR_LINE.test(line)) continue
    const cut = Array.from(line.trimEnd()).slice(0, MAX_LINE_CHARS).join('')
    if (kept.length === MAX_KEPT_LINES || cut.length + 1 > room) break
    if (kept.at(-1) === cut) continue
    kept.push(cut)
    room -= cut.length + 1
  }
  return kept
}
