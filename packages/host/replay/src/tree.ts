import { isUtf8 } from 'node:buffer'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { unifiedDiff } from './unified-diff.ts'

export type TreeEntry =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly executable: boolean }
  | { readonly kind: 'link'; readonly target: string }
/** Relative path with `/` → entry. Empty directories are no content, as in git. */
export type Tree = ReadonlyMap<string, TreeEntry>

/**
 * Everything below `root` except what has one of the names in `skip`, or only the paths in `only`. A root that is absent
 * is an empty tree.
 */
export async function readTree(
  root: string,
  skip: readonly string[] = ['.git'],
  only?: ReadonlySet<string>,
): Promise<Tree> {
  const tree = new Map<string, TreeEntry>()
  const visit = async (dir: string): Promise<void> => {
    const names = await readdir(path.join(root, dir)).catch(absent)
    for (const name of [...names].sort()) {
      if (skip.includes(name)) continue
      const relative = dir === '' ? name : `${dir}/${name}`
      const file = path.join(root, relative)
      const stat = await lstat(file)
      if (stat.isDirectory()) await visit(relative)
      else if (only !== undefined && !only.has(relative)) continue
      else if (stat.isSymbolicLink()) tree.set(relative, { kind: 'link', target: await readlink(file) })
      else if (stat.isFile())
        tree.set(relative, { kind: 'file', bytes: await readFile(file), executable: (stat.mode & 0o100) !== 0 })
    }
  }
  await visit('')
  return tree
}

function absent(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
  throw error
}

export interface TreeChange {
  readonly path: string
  readonly what: 'missing' | 'unexpected' | 'content' | 'mode' | 'kind'
  /** What a person reads: a unified diff where both sides are text. */
  readonly text: string
}

/** What has to change in `actual` to be `expected`. `text` replaces volatile paths inside text files. */
export function compareTrees(expected: Tree, actual: Tree, text: (content: string) => string = (t) => t): TreeChange[] {
  const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort()
  return paths.flatMap((file) => {
    const change = compareEntry(file, expected.get(file), actual.get(file), text)
    return change === undefined ? [] : [change]
  })
}

function compareEntry(
  file: string,
  want: TreeEntry | undefined,
  got: TreeEntry | undefined,
  text: (content: string) => string,
): TreeChange | undefined {
  if (got === undefined) return { path: file, what: 'missing', text: `${file}: expected, but not there` }
  if (want === undefined) return { path: file, what: 'unexpected', text: `${file}: not expected${preview(got)}` }
  if (want.kind === 'link' || got.kind === 'link') {
    const [a, b] = [want, got].map((entry) => (entry.kind === 'link' ? `link to ${entry.target}` : 'a file'))
    return a === b ? undefined : { path: file, what: 'kind', text: `${file}: expected ${a}, found ${b}` }
  }
  if (!want.bytes.equals(got.bytes)) {
    const difference = contentDifference(file, want.bytes, got.bytes, text)
    if (difference !== '') return { path: file, what: 'content', text: difference }
  }
  if (want.executable === got.executable) return undefined
  return { path: file, what: 'mode', text: `${file}: expected ${mode(want)}, found ${mode(got)}` }
}

function contentDifference(file: string, want: Buffer, got: Buffer, text: (content: string) => string): string {
  if (!isUtf8(want) || !isUtf8(got))
    return `${file}: binary content differs (${want.length} bytes expected, ${got.length} found)`
  return unifiedDiff(text(want.toString()), text(got.toString()), { from: `expected/${file}`, to: `actual/${file}` })
}

function preview(entry: TreeEntry): string {
  if (entry.kind === 'link') return ` (link to ${entry.target})`
  return ` (${entry.bytes.length} bytes)`
}

function mode(entry: TreeEntry & { kind: 'file' }): string {
  return entry.executable ? 'executable' : 'not executable'
}
