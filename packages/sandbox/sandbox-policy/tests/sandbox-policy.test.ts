import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent } from '@dsh/agent'
import { Context } from '@dsh/cordis'
import type { Fold, Session, SessionEvent } from '@dsh/session'
import type { ContextSection } from '@dsh/system-prompt'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as row from '../src/index.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-policy-')))
})
afterEach(() => rmSync(dir, { recursive: true }))

function sessionIn(cwd: string | undefined, modes: readonly string[] = []): Session {
  const header = { type: 'session', version: 0, id: 's1', createdAt: 0, delegationDepth: 0, cwd }
  const fold = <S>({ initial, apply }: Fold<S>): S =>
    modes.reduce(
      (state, mode, seq) => apply(state, { type: 'sandbox/mode', seq, time: 0, data: { mode } } as SessionEvent),
      initial(header as Session['header']),
    )
  return { id: 's1', header, fold } as unknown as Session
}

async function mount(config: Record<string, unknown> = {}) {
  const ctx = new Context()
  const sections: ContextSection[] = []
  ctx.provide('dshHomePath', (...parts: string[]) => join(dir, 'home', ...parts))
  ctx.provide('systemPrompt', { context: (section: ContextSection) => sections.push(section) } as never)
  await ctx.plugin(row, row.Config.parse({ workspaceRoot: dir, ...config }))
  const text = (session: Session) => sections.map((section) => section.text({ session } as unknown as Agent)).join()
  return { ctx, policy: ctx.sandboxPolicy, sections, text }
}

it('the narrowest mode is the default of the row, and a word that is no mode is refused', () => {
  expect(row.Config.parse({}).mode).toBe('read-only')
  for (const mode of ['', 'full', 'READ-ONLY']) expect(row.Config.safeParse({ mode }).success).toBe(false)
})

it('a mode given for the call wins over the session’s last one, and that over the default', async () => {
  const { policy } = await mount({ mode: 'workspace-write' })
  const session = sessionIn(dir, ['read-only', 'danger-full-access'])
  expect(policy.resolve().mode).toBe('workspace-write')
  expect(policy.resolve({ session: sessionIn(dir) }).mode).toBe('workspace-write')
  expect(policy.resolve({ session })).toMatchObject({ mode: 'danger-full-access', sessionId: 's1' })
  expect(policy.resolve({ session, mode: 'read-only' }).mode).toBe('read-only')
  expect(policy.overrideOf(sessionIn(dir, ['wild']))).toBe('read-only')
})

it('the root is the real path of the session’s directory, else of the configured one', async () => {
  const { policy } = await mount()
  mkdirSync(join(dir, 'a'))
  symlinkSync('a', join(dir, 'link'))
  expect(policy.resolve({ session: sessionIn(join(dir, 'link')) }).workspaceRoot).toBe(join(dir, 'a'))
  expect(policy.resolve({ session: sessionIn(undefined) }).workspaceRoot).toBe(dir)
  expect(policy.resolve({ session: sessionIn(join(dir, 'absent')) }).workspaceRoot).toBe(join(dir, 'absent'))
})

it('a link that takes the place of a directory above the root is not followed', async () => {
  const { policy } = await mount()
  mkdirSync(join(dir, 'a/b'), { recursive: true })
  mkdirSync(join(dir, 'other/b'), { recursive: true })
  const session = sessionIn(join(dir, 'a/b'))
  expect(policy.resolve({ session }).workspaceRoot).toBe(join(dir, 'a/b'))
  renameSync(join(dir, 'a'), join(dir, 'moved'))
  symlinkSync('other', join(dir, 'a'))
  expect(policy.resolve({ session }).workspaceRoot).toBe(join(dir, 'a/b'))
})

it('the home is protected and its keys are hidden, beside what the row lists', async () => {
  mkdirSync(join(dir, 'home'))
  const { policy } = await mount({ protectedPaths: ['.git/hooks'], denyRead: ['~/.ssh'], writableRoots: ['/opt/x'] })
  expect(policy.resolve()).toMatchObject({
    network: 'shared',
    writableRoots: ['/opt/x'],
    protectedPaths: [join(dir, 'home'), join(dir, '.git/hooks')],
    hiddenPaths: [
      join(dir, 'home/.credentials.yaml'),
      join(dir, 'home/.env'),
      expect.stringMatching(/^\/.*\.ssh$/) as string,
    ],
  })
})

it('the model is told the policy of its session, and of a cut network', async () => {
  const { text, sections } = await mount({ mode: 'workspace-write', network: 'none' })
  expect(sections.map(({ name, order }) => [name, order])).toEqual([['sandbox:policy', 110]])
  expect(text(sessionIn(dir))).toBe(
    `Current DSH file policy: workspace-write. Any available operation enforced by the DSH file sandbox may modify files under the session workspace: ${JSON.stringify(dir)}. Some platform temporary areas may also be writable. Commands have no network access.`,
  )
  expect(text(sessionIn(dir, ['read-only']))).toMatch(/^Current DSH file policy: read-only\. /)
  expect(text(sessionIn(dir, ['danger-full-access']))).not.toContain('network')
})

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const logs = join(process.env['DSH_SHARED'] ?? join(repository, '../shared'), 'data/reference-logs')

it.skipIf(!existsSync(logs))('the sentences are those of the reference’s logs', async () => {
  const { text } = await mount({ mode: 'workspace-write' })
  const recorded = new Set<string>()
  for (const log of readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')))
    for (const [, said] of readFileSync(join(logs, log), 'utf8').matchAll(
      /"sandbox:policy","text":("(?:[^"\\]|\\.)*")/g,
    ))
      recorded.add(JSON.parse(said as string) as string)
  const ours = [text(sessionIn(dir)), text(sessionIn(dir, ['danger-full-access']))]
  expect([...recorded].sort().reverse()).toEqual(ours.map((said) => said.replace(dir, '{{cwd}}')))
})
