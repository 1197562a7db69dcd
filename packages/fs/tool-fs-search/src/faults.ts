/** What ripgrep complained about, sorted into what a search survives and what it does not. */
export interface Faults {
  /** Paths that could not be searched, with the reasons. */
  readonly skipped: number
  readonly reasons: readonly string[]
  /** Complaints that fail the search, as ripgrep wrote them. */
  readonly fatal: string
}

/** By `os error`: what happens to single entries while walking. */
const survivable: { readonly [osError: string]: string } = {
  '1': 'operation not permitted',
  '2': 'not found',
  '5': 'input/output error',
  '13': 'permission denied',
  '20': 'not a directory',
  '36': 'file name too long',
  '40': 'too many symbolic links',
  '63': 'file name too long',
}
/** Said when every file was filtered out: that is no match, not a failure. */
const nothingSearched = [
  "No files were searched, which means ripgrep probably applied a filter you didn't expect.",
  'Running with --debug will show why files are being skipped.',
]

/** `root` is the path that was asked for: a fault of that one is a failure. */
export function sortFaults(stderr: string, root: string | undefined, cut: boolean): Faults {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  // The tail was kept: its first line may be half a line.
  if (cut) lines.shift()
  const reasons = new Set<string>()
  const fatal: string[] = []
  let skipped = 0
  for (const line of lines) {
    if (nothingSearched.some((text) => line.endsWith(text))) continue
    const osError = /\(os error (\d+)\)$/.exec(line)?.[1]
    const reason = osError === undefined ? undefined : survivable[osError]
    if (reason === undefined || (root !== undefined && isAboutRoot(line, root))) fatal.push(line)
    else {
      skipped++
      reasons.add(reason)
    }
  }
  return { skipped, reasons: [...reasons].sort(), fatal: fatal.join('\n') }
}

function isAboutRoot(line: string, root: string): boolean {
  return line.startsWith(`rg: ${root}: `)
}

/** One line, or undefined when all was searched. */
export function skippedNote(faults: Faults): string | undefined {
  if (faults.skipped === 0) return undefined
  const subject = faults.skipped === 1 ? '1 path' : `${faults.skipped} paths`
  return `(${subject} could not be searched: ${faults.reasons.join(', ')})`
}
