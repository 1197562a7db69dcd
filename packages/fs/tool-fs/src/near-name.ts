import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FsService, FsTarget } from '@dsh/fs'

const most = 3
const listMax = 5000

/** What the missing file may have been meant to be. Names only: no other file is opened. */
export async function missHint(
  target: FsTarget,
  asked: string,
  fs: FsService,
  signal: AbortSignal,
): Promise<string | undefined> {
  const spelled = respelled(asked)
  if (spelled !== undefined) return `Hint: paths are taken literally; use ${spelled}`
  const names = await siblings(target, fs, signal)
  // A name that is listed and yet missing is a link to nowhere: no suggestion.
  const wanted = basename(target.displayPath)
  const near = nearNames(
    wanted,
    names.filter((name) => name !== wanted),
  )
  if (near.length === 0) return undefined
  return `Similar: ${near.map((name) => join(dirname(target.displayPath), name)).join(', ')}`
}

function respelled(asked: string): string | undefined {
  if (asked === '~' || asked.startsWith('~/')) return join(homedir(), asked.slice(2))
  if (!asked.startsWith('file:')) return undefined
  try {
    return fileURLToPath(asked)
  } catch {
    return undefined
  }
}

async function siblings(target: FsTarget, fs: FsService, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const parent = await fs.resolve(dirname(target.displayPath), { signal })
    const entries = await fs.listDir(parent, signal)
    return entries.slice(0, listMax).map((entry) => entry.name)
  } catch {
    // No directory, or not listable: there is nothing to suggest, and the miss itself is the news.
    return []
  }
}

/** Best first: the same name in another Unicode form, spacing or letter case, then few changed letters. */
export function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const folded = fold(wanted)
  const scored = names.flatMap((name) => {
    const other = fold(name)
    if (other === folded) return [{ name, score: 0 }]
    const allowed = Math.min(3, Math.floor(folded.length / 3))
    const score = distance(folded, other, allowed)
    return score <= allowed ? [{ name, score }] : []
  })
  return scored
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map((entry) => entry.name)
}

function fold(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ')
    .trim()
    .toLowerCase()
}

/** Edit distance with neighbours swapped as one edit; anything over `allowed` reads as `allowed + 1`. */
function distance(a: string, b: string, allowed: number): number {
  if (Math.abs(a.length - b.length) > allowed) return allowed + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let best = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] as number) + 1)
      row.push(best)
    }
    if (Math.min(...row) > allowed) return allowed + 1
    before = last
    last = row
  }
  return last[b.length] as number
}
