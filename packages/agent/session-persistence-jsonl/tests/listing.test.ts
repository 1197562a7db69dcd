import fs, { openSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { append, host, playTurn, prompt, temporaryRoot } from './scene.ts'

it('sessions are listed newest first, with title and prompt, and a broken log hides no other', async () => {
  const root = temporaryRoot()
  const h = await host(root)
  for (const [i, id] of ['a', 'b', 'c'].entries()) {
    const session = h.sessions.create({ id, cwd: i === 2 ? '/other' : '/w' })
    playTurn(session, 1)
    session.append('session/title', { title: `title ${id}`, messageSeqs: [2], source: { kind: 'fallback' } })
    await h.sessions.dispose(id)
    utimesSync((await h.store.locate(id)) as string, i + 1, i + 1)
  }
  writeFileSync((await h.store.locate('b')) as string, 'not a log\n')
  expect(
    (await h.store.list()).map((session) => [session.header.id, session.title, session.problem !== undefined]),
  ).toEqual([
    ['b', undefined, true],
    ['c', 'title c', false],
    ['a', 'title a', false],
  ])
  expect((await h.store.list({ cwd: '/other' })).map((session) => session.header.id)).toEqual(['c'])
  expect((await h.store.list()).length).toBe(3)
  await h.dispose()
})

it('a log of a newer format is listed with its file, and read again when it can be', async () => {
  const root = temporaryRoot()
  const h = await host(root)
  playTurn(h.sessions.create({ id: 'a', cwd: '/w' }), 1)
  await h.sessions.dispose('a')
  const path = (await h.store.locate('a')) as string
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('"version":0', '"version":7'))
  utimesSync(path, 1, 1)
  for (const _ of [1, 2]) expect((await h.store.list())[0]?.problem).toContain(`(raw log: ${path})`)
  writeFileSync(path, text)
  utimesSync(path, 1, 1)
  expect((await h.store.list())[0]).toMatchObject({ header: { id: 'a' }, prompt: 'prompt 1' })
  expect((await h.store.list())[0]?.problem).toBeUndefined()
  await h.dispose()
})

it('damage and what may not be read are told apart, and listed for the directory they are filed under', async () => {
  const root = temporaryRoot()
  const h = await host(root)
  for (const id of ['a', 'b', 'c']) {
    playTurn(h.sessions.create({ id, cwd: '/w' }), 1)
    await h.sessions.dispose(id)
  }
  const pathOf = async (id: string) => (await h.store.locate(id)) as string
  writeFileSync(await pathOf('a'), 'not a log\n')
  // A log of another user's, for whoever runs this: root may read every file, so a file system's own refusal stands in.
  const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  const path = await pathOf('b')
  const open = vi.spyOn(fs, 'openSync').mockImplementation(((name: string, ...rest: [string]) => {
    if (name === path) throw refused
    return openSync(name, ...rest)
  }) as typeof fs.openSync)
  onTestFinished(() => open.mockRestore())
  const problems = new Map((await h.store.list({ cwd: '/w' })).map(({ header, problem }) => [header.id, problem]))
  expect(problems.get('a')).toMatch(/^damaged: /)
  expect(problems.get('b')).toBe('cannot be read: EACCES: permission denied')
  expect(problems.get('c')).toBeUndefined()
  expect(problems.size).toBe(3)
  expect(await h.store.list({ cwd: '/elsewhere' })).toEqual([])
  await h.dispose()
})

it('the index is only a memory: it follows the logs, and may be deleted', async () => {
  const root = temporaryRoot()
  const h = await host(root)
  const session = h.sessions.create({ id: 'a', cwd: '/w' })
  session.append('user/message', prompt('say "type":"session/title" please\nnow'), append)
  await h.store.flush(session)
  expect(await h.store.list()).toMatchObject([{ prompt: 'say "type":"session/title" please now' }])
  session.append('session/title', { title: 'one', messageSeqs: [0], source: { kind: 'fallback' } })
  await h.store.flush(session)
  expect((await h.store.list())[0]?.title).toBe('one')
  session.append('session/title', { title: 'two', messageSeqs: [0], source: { kind: 'user' } })
  playTurn(session, 1)
  await h.store.flush(session)
  expect((await h.store.list())[0]).toMatchObject({ title: 'two', prompt: 'say "type":"session/title" please now' })
  const index = join(root, 'index.json')
  expect(readFileSync(index, 'utf8')).toContain('"two"')
  rmSync(index)
  expect((await h.store.list())[0]?.title).toBe('two')
  writeFileSync(index, 'garbage')
  expect((await h.store.list())[0]?.title).toBe('two')
  await h.sessions.dispose('a')
  await h.store.delete('a')
  expect(await h.store.list()).toEqual([])
  expect(JSON.parse(readFileSync(index, 'utf8')).logs).toEqual({})
  await h.dispose()
})
