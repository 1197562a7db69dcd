import { mkdirSync, symlinkSync } from 'node:fs'
import type { Agent } from '@dsh/agent'
import { bootRows, tempWorkspace } from '@dsh/testkit'
import { expect, it } from 'vitest'
import { indexTree } from '../src/listing.ts'
import { bestMatches } from '../src/score.ts'

const none = new Set<string>()

async function mounted(files: Record<string, string>, config: Record<string, unknown> = {}) {
  const workspace = await tempWorkspace(files)
  const home = await tempWorkspace()
  const { ctx } = await bootRows([{ module: await import('../src/index.ts'), config }], { home: home.root })
  const agent = { session: { cwd: workspace.root } } as unknown as Agent
  const complete = async (query: string) =>
    (await ctx.fileReferences.complete(agent, query)).map((found) => found.path + (found.directory ? '/' : ''))
  return { workspace, ctx, complete }
}

it('lists the directory a query is in, directories first, hidden names only when asked for', async () => {
  const { complete, workspace } = await mounted({
    'src/app.ts': '',
    'src/sub/x.ts': '',
    'src/.hidden': '',
    'readme.md': '',
    'node_modules/m/i.js': '',
  })
  symlinkSync('src', workspace.path('link'))
  expect(await complete('')).toEqual(['src/', 'readme.md'])
  expect(await complete('src/')).toEqual(['src/sub/', 'src/app.ts'])
  expect(await complete('src/A')).toEqual(['src/app.ts'])
  expect(await complete('src/.')).toEqual(['src/.hidden'])
  expect(await complete('src\\s')).toEqual(['src/sub/'])
})

it('offers nothing outside the root, behind links, or below excluded directories', async () => {
  const { complete, workspace } = await mounted({ 'a/b.txt': '', 'node_modules/m/i.js': '' })
  symlinkSync('/', workspace.path('out'))
  for (const query of ['../', '/', '/etc/', 'a/../../', 'out/', 'out/etc/', 'node_modules/', 'node_modules/m/'])
    expect(await complete(query), query).toEqual([])
})

it('finds names anywhere, the best first', async () => {
  const { complete } = await mounted({
    'lib/app.ts': '',
    'app/main.ts': '',
    'docs/wrapper.md': '',
    'a/p/p.txt': '',
    '.config/app.json': '',
  })
  expect(await complete('app')).toEqual(['app/', 'lib/app.ts', 'docs/wrapper.md', 'app/main.ts', 'a/p/p.txt'])
  expect(await complete('.config')).toEqual(['.config/', '.config/app.json'])
  expect(await complete('zzz')).toEqual([])
})

it('orders ties by kind, length and code points', () => {
  const files = ['b.ts', 'a.ts', 'long/a.ts'].map((path) => ({ path, directory: false }))
  expect(bestMatches([...files, { path: 'ts', directory: true }], 'ts', 3).map((one) => one.path)).toEqual([
    'ts',
    'a.ts',
    'b.ts',
  ])
})

it('does not offer names that cannot be written behind @', async () => {
  const { complete } = await mounted({ 'q"uote.txt': '', 'new\nline.txt': '', 'fine name.txt': '' })
  expect(await complete('')).toEqual(['fine name.txt'])
  expect(await complete('txt')).toEqual(['fine name.txt'])
})

it('looks again after a tool has run', async () => {
  const { complete, workspace, ctx } = await mounted({ 'one.txt': '' })
  expect(await complete('txt')).toEqual(['one.txt'])
  await workspace.write('two.txt', '')
  expect(await complete('txt')).toEqual(['one.txt'])
  ctx.emit('tools/result', {} as never, {} as never)
  expect(await complete('txt')).toEqual(['one.txt', 'two.txt'])
})

it('stops at its size, near things first', async () => {
  const workspace = await tempWorkspace()
  for (const dir of ['a', 'b', 'c']) mkdirSync(workspace.path(dir, 'deep'), { recursive: true })
  const entries = await indexTree(workspace.root, none, 4)
  expect(entries.map((entry) => entry.path)).toEqual(['a', 'b', 'c', 'a/deep'])
})

it('refuses a configuration that means nothing', async () => {
  await expect(mounted({}, { maxResults: 0 })).rejects.toThrow(/maxResults must be a positive safe integer/)
  await expect(mounted({}, { excludedDirectories: ['a/b'] })).rejects.toThrow(/non-empty directory basenames/)
})
