import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { DshError } from '@dsh/core'
import type { Fixture, FixtureInput } from './fixture.ts'
import { readTree, type Tree } from './tree.ts'

/**
 * The files a recording starts with: what git tracks or would track; without git everything but node_modules. Not in
 * it: files that hold secrets by custom (`.env`, `.env.local`, … but not `.env.example`), and other fixtures.
 */
export async function recordableTree(dir: string, maxBytes: number): Promise<Tree> {
  const listed = await gitFiles(dir)
  const whole = await readTree(dir, ['.git', 'node_modules'], listed)
  const logs = [...whole.keys()].filter((file) => path.posix.basename(file) === 'session.jsonl')
  const nested = logs.map((file) => `${path.posix.dirname(file)}/`).filter((prefix) => whole.has(`${prefix}input.json`))
  const tree = new Map(
    [...whole].filter(([file]) => !isSecretFile(file) && !nested.some((fixture) => file.startsWith(fixture))),
  )
  let bytes = 0
  for (const entry of tree.values()) bytes += entry.kind === 'file' ? entry.bytes.length : 0
  if (bytes > maxBytes)
    throw new DshError('RECORD_TOO_LARGE', `${dir} holds ${mb(bytes)} MB, a fixture takes up to ${mb(maxBytes)} MB`, {
      hint: 'Record in a smaller directory, or raise --max-mb.',
    })
  return tree
}

function isSecretFile(file: string): boolean {
  return /^\.env(\.(?!example$|sample$|template$|dist$).*)?$/.test(path.posix.basename(file))
}

async function gitFiles(dir: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const { stdout } = await promisify(execFile)('git', words, { cwd: dir, maxBuffer: 1 << 28 })
    return new Set(stdout.split('\0').filter((name) => name !== ''))
  } catch {
    return undefined
  }
}

function mb(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

/** Makes the directory of a new fixture. Refuses one that already holds something. */
export async function claimDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  if ((await readdir(dir)).length > 0)
    throw new DshError('FIXTURE_EXISTS', `${dir} is not empty; a fixture needs a new directory`)
}

/** A fixture that has steps and files, and no log yet. */
export async function emptyFixture(
  dir: string,
  input: FixtureInput,
  patch?: string,
): Promise<Fixture & { dir: string }> {
  await writeFile(path.join(dir, 'input.json'), `${JSON.stringify(input, null, 2)}\n`)
  if (patch !== undefined) await writeFile(path.join(dir, 'patch.yml'), patch)
  const workspace = path.join(dir, 'workspace')
  const there = await lstat(workspace).catch(() => undefined)
  return {
    name: path.basename(dir),
    dir,
    file: path.join(dir, 'session.jsonl'),
    transcript: { header: {}, events: [] },
    children: [],
    input,
    steps: input.steps ?? [],
    override: undefined,
    script: undefined,
    patch: patch === undefined ? undefined : path.join(dir, 'patch.yml'),
    workspace: there === undefined ? undefined : workspace,
    workspaceExpected: undefined,
  }
}
