import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@dsh/agent'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { directoryStore, memoryStore } from '../src/history/before-store.ts'
import { turnChanges } from '../src/history/change-log.ts'
import { type Bench, bench } from './bench.ts'

let table: Bench
let agent: Agent
let logDir: string
/** Says where the log of a session would be. */
const fakePersistence = {
  name: 'fake-persistence',
  apply: async (ctx: { provide(name: string, value: unknown): void }) => {
    ctx.provide('sessionPersistence', {
      pathOf: () => join(logDir, 'session.jsonl'),
      locate: async () => undefined,
    })
  },
}
beforeEach(async () => {
  table = await bench({
    toolFs: { applyPatch: true },
    rows: [{ module: await import('@dsh/commands') }, { id: 'persistence', module: fakePersistence }],
  })
  agent = table.agent
  logDir = join(table.home, 'log')
  turn(1)
})
afterEach(() => table.dispose())

const turn = (number: number) => agent.session.append('turn/start', { turn: number })
const put = (name: string, content: string | Uint8Array) => nodeFs.writeFileSync(join(table.root, name), content)
const bytes = (name: string) => nodeFs.readFileSync(join(table.root, name))
const exists = (name: string) => nodeFs.existsSync(join(table.root, name))
const run = async (line: string) => {
  const reply = await table.ctx.commands.run(agent, line)
  return `${reply.kind}: ${reply.text}`
}
const read = (file_path: string) => table.text('read', { file_path })
const edit = (file_path: string, old_string: string, new_string: string) =>
  table.text('edit', { file_path, old_string, new_string })

describe('the record of changes', () => {
  it('logs each change and keeps the bytes before it beside the log', async () => {
    put('f', '\uFEFFa\r\nb\n')
    await read('f')
    await edit('f', 'b', 'c')
    await table.text('write', { file_path: 'new', content: 'n' })
    const events = agent.session.events.filter((event) => event.type === 'file/change')
    expect(events.map(({ data, ignorable }) => [data.path, data.operation, ignorable])).toEqual([
      [join(table.root, 'f'), 'update', true],
      [join(table.root, 'new'), 'create', true],
    ])
    const kept = nodeFs.readdirSync(join(logDir, 'before'))
    expect(kept).toHaveLength(1)
    expect(nodeFs.readFileSync(join(logDir, 'before', kept[0] as string), 'utf8')).toBe('\uFEFFa\r\nb\n')
    expect(nodeFs.statSync(join(logDir, 'before', kept[0] as string)).mode & 0o777).toBe(0o600)
  })

  it('knows which turn had which change, and whether a command ran', async () => {
    await table.text('write', { file_path: 'a', content: '1' })
    turn(2)
    agent.session.append('tool/call', { turn: 2, step: 1, callId: 'c', name: 'bash', arguments: '{}' })
    await table.text('write', { file_path: 'a', content: '2' })
    expect(turnChanges(agent.session).map(({ turn, changes, shell }) => [turn, changes.length, shell])).toEqual([
      [1, 1, false],
      [2, 1, true],
    ])
  })
})

describe('/undo', () => {
  it('gives back the bytes of the last turn, turn by turn', async () => {
    put('f', '\uFEFFa\r\nb\n')
    await read('f')
    await edit('f', 'a', 'A')
    await edit('f', 'b', 'B')
    turn(2)
    await edit('f', 'B', 'C')
    expect(await run('/undo')).toBe(`success: restored ${join(table.root, 'f')}`)
    expect(bytes('f').toString()).toBe('\uFEFFA\r\nB\n')
    expect(await run('/undo')).toBe(`success: restored ${join(table.root, 'f')}`)
    expect(bytes('f').toString()).toBe('\uFEFFa\r\nb\n')
    expect(await run('/undo')).toBe('success: No recorded file changes to take back.')
  })

  it('removes what was created and brings back what was deleted or moved, binary too', async () => {
    put('gone', 'g\n')
    put('from', 'x\n')
    put('bin', Buffer.from([1, 0, 255]))
    for (const name of ['gone', 'from', 'bin']) await read(name)
    await table.text('write', { file_path: 'made', content: 'm' })
    await table.text('write', { file_path: 'bin', content: 'text' })
    await table.text('apply_patch', {
      input:
        '*** Begin Patch\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-x\n+y\n*** End Patch',
    })
    expect([exists('gone'), exists('from'), exists('to'), exists('made')]).toEqual([false, false, true, true])
    const told = (await run('/undo')).replace('success: ', '').split('\n')
    expect(told.sort()).toEqual([
      ...['made', 'to'].map((name) => `removed ${join(table.root, name)}`),
      ...['bin', 'from', 'gone'].map((name) => `restored ${join(table.root, name)}`),
    ])
    expect([exists('to'), exists('made')]).toEqual([false, false])
    expect(bytes('gone').toString()).toBe('g\n')
    expect(bytes('from').toString()).toBe('x\n')
    expect([...bytes('bin')]).toEqual([1, 0, 255])
  })

  it('leaves what somebody changed since, and says so', async () => {
    await table.text('write', { file_path: 'a', content: '1' })
    await table.text('write', { file_path: 'b', content: '1' })
    put('a', 'mine')
    agent.session.append('tool/call', { turn: 1, step: 1, callId: 'c', name: 'bash', arguments: '{}' })
    expect(await run('/undo')).toBe(
      [
        `success: removed ${join(table.root, 'b')}`,
        `left ${join(table.root, 'a')}: changed since`,
        'Commands also ran in that turn; what they changed is not recorded and was not taken back.',
      ].join('\n'),
    )
    expect(bytes('a').toString()).toBe('mine')
    expect(exists('b')).toBe(false)
  })
})

describe('/diff', () => {
  it('shows the session against how it began', async () => {
    put('f', 'one\ntwo\n')
    await read('f')
    await edit('f', 'one', '1')
    turn(2)
    await edit('f', '1', 'uno')
    await table.text('write', { file_path: 'n', content: 'new\n' })
    await table.text('write', { file_path: 'same', content: 'x' })
    nodeFs.unlinkSync(join(table.root, 'same'))
    expect(await run('/diff')).toBe(
      [
        'success: --- a/f',
        '+++ b/f',
        '@@ -1,2 +1,2 @@',
        '-one',
        '+uno',
        ' two',
        '--- /dev/null',
        '+++ b/n',
        '@@ -0,0 +1,1 @@',
        '+new',
      ].join('\n'),
    )
    await edit('f', 'uno', 'one')
    await table.ctx.fs.deleteFile(await table.ctx.fs.resolve(join(table.root, 'n')))
    expect(await run('/diff')).toBe('success: No file differs from how this session found it.')
  })
})

describe('a before-text store', () => {
  it('finds what another session keeps and refuses a damaged object', async () => {
    const parent = directoryStore(join(table.home, 'p'), async () => [])
    const child = directoryStore(join(table.home, 'c'), async () => [join(table.home, 'p')])
    const id = await parent.put(Buffer.from('x'))
    expect((await child.get(id))?.toString()).toBe('x')
    nodeFs.writeFileSync(join(table.home, 'p', id.slice(7)), 'y')
    expect(await child.get(id)).toBeUndefined()
  })

  it('in memory forgets the oldest when it is full', async () => {
    const store = memoryStore()
    const first = await store.put(Buffer.alloc(40 * 1024 * 1024, 1))
    const second = await store.put(Buffer.alloc(40 * 1024 * 1024, 2))
    expect(await store.get(first)).toBeUndefined()
    expect(await store.get(second)).toBeDefined()
  })
})
