import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseLog } from '@dsh/session'
import { describe, expect, it } from 'vitest'
import { append, host, linesOf, pathOf, playTurn, prompt, temporaryRoot } from './scene.ts'

describe('a log on disk', () => {
  it('lies where its directory and id say, with private modes, and starts with its header', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    const session = h.sessions.create({ id: 'session-1', cwd: '/home/u/my proj' })
    session.append('turn/start', { turn: 1 })
    await h.store.flush(session)
    const path = join(root, '--home-u-my~0020proj--', 'session-1', 'session.jsonl')
    expect(await pathOf(h, session)).toBe(path)
    expect(JSON.parse(linesOf(path)[0]!)).toEqual({
      type: 'session',
      version: 0,
      id: 'session-1',
      createdAt: session.header.createdAt,
      cwd: '/home/u/my proj',
      delegationDepth: 0,
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    await h.dispose()
    expect(readdirSync(dirname(path))).toEqual(['session.jsonl'])
  })

  it('holds everything that was appended before a flush, in order', async () => {
    const h = await host(temporaryRoot())
    const session = h.sessions.create({ cwd: '/w' })
    playTurn(session, 1)
    await h.store.flush(session)
    const { events } = parseLog(readFileSync(await pathOf(h, session), 'utf8'))
    expect(JSON.stringify(events)).toBe(JSON.stringify([...session.events]))
    await h.dispose()
  })

  it('is not created by a session without events, nor by an ephemeral one', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    const empty = h.sessions.create({ cwd: '/w' })
    // What rows pin at the start of a session is nothing that anybody said.
    const silent = h.sessions.create({ cwd: '/w' })
    silent.append('permission/preset', { preset: 'workspace-write' })
    silent.append('sandbox/mode', { mode: 'workspace-write' })
    silent.append('approval/policy', { policy: 'ask' })
    await sleep(300)
    await h.store.flush(silent)
    await h.store.flush(empty)
    const secret = h.sessions.create({ cwd: '/w', ephemeral: true })
    playTurn(secret, 1)
    await h.store.flush(secret)
    await h.sessions.dispose(empty.id)
    await h.sessions.dispose(silent.id)
    await h.dispose()
    expect(existsSync(root)).toBe(false)
  })

  it('gets the last events when the row is disposed', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 60_000 })
    const session = h.sessions.create({ cwd: '/w' })
    playTurn(session, 1)
    const path = await pathOf(h, session)
    await h.dispose()
    expect(parseLog(readFileSync(path, 'utf8')).events.length).toBe(session.events.length)
  })

  it('gets the last events when the session is disposed, and the session can then be resumed', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 60_000 })
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await h.sessions.dispose('s')
    const again = await h.store.resume('s')
    expect(again.deriveMessages()).toEqual(session.deriveMessages())
    await h.dispose()
  })

  it('is written in the background, but keeps an open run of deltas together', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 10 })
    const session = h.sessions.create({ cwd: '/w' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    const path = await pathOf(h, session)
    for (let i = 0; i < 30; i++) {
      session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: `${i} ` } })
      await sleep(2)
    }
    await expect.poll(() => linesOf(path).length).toBe(3)
    session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'finish', reason: { kind: 'stop' } } })
    await expect.poll(() => linesOf(path).length).toBe(5)
    expect(JSON.parse(linesOf(path)[3]!).data.texts.length).toBe(30)
    await h.dispose()
  })

  it('survives control characters, U+2028 and lone surrogates', async () => {
    const h = await host(temporaryRoot())
    const text = 'a\u2028b\u2029c\u0085d\u0000e\u001bf\r\n\ud800'
    const session = h.sessions.create({ id: 's' })
    session.append('user/message', prompt(text), append)
    await h.sessions.dispose('s')
    const again = await h.store.resume('s')
    expect(again.deriveMessages()[0]?.content).toEqual([{ type: 'text', text }])
    await h.dispose()
  })

  it('is never overwritten by a new session of the same id', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(session, 1)
    await expect(h.store.flush(session)).rejects.toThrow(
      'session "s" already has a persisted log on disk; load/resume it instead of creating',
    )
  })

  it('stays within five bytes per byte of output for an answer of five thousand deltas', async () => {
    const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 20 })
    const session = h.sessions.create({ cwd: '/w' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    const sources: number[] = []
    let text = ''
    for (let i = 0; i < 5000; i++) {
      const word = `word${i} `
      text += word
      sources.push(
        session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: word } })
          .seq,
      )
      if (i % 500 === 0) await sleep(5)
    }
    const block = { type: 'text' as const, text }
    session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'block-end', index: 0, block } })
    session.append(
      'assistant/message',
      {
        turn: 1,
        step: 1,
        message: { role: 'assistant', content: [block], source: { kind: 'model', provider: 'p', model: 'm' }, id: 'a' },
      },
      { surfaceOp: 'append', sourceEventSeqs: sources },
    )
    await h.store.flush(session)
    const bytes = statSync(await pathOf(h, session)).size
    expect(bytes / Buffer.byteLength(text)).toBeLessThanOrEqual(5)
    await h.dispose()
  })
})

describe('fork', () => {
  it('inherits events up to the boundary and leaves the original alone', async () => {
    const h = await host(temporaryRoot())
    const source = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(source, 1)
    const boundary = source.events.length - 1
    playTurn(source, 2)
    await h.sessions.dispose('s')
    const before = readFileSync((await h.store.locate('s')) as string, 'utf8')
    const child = await h.store.fork('s', { boundary, id: 'c' })
    expect(child.header).toMatchObject({ id: 'c', cwd: '/w', parentSession: 's', seedLength: boundary + 1 })
    playTurn(child, 2)
    await h.sessions.dispose('c')
    expect(readFileSync((await h.store.locate('s')) as string, 'utf8')).toBe(before)
    const again = await h.store.resume('c')
    expect(again.header.seedLength).toBe(boundary + 1)
    expect(again.deriveMessages().length).toBe(6)
    await h.dispose()
  })

  it('refuses a boundary outside the log or inside a turn, and closes a dead turn in the child only', async () => {
    const h = await host(temporaryRoot())
    const source = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(source, 1, 'call')
    await expect(h.store.fork('s')).rejects.toMatchObject({
      code: 'OPEN_TURN',
      message: expect.stringContaining('ends inside open turn 1'),
    })
    await expect(h.store.fork('s', { boundary: 99 })).rejects.toMatchObject({ code: 'INVALID_BOUNDARY' })
    await h.sessions.dispose('s')
    const child = await h.store.fork('s')
    expect(child.events.at(-2)?.type).toBe('turn/end')
    expect((await h.store.inspect('s')).events.at(-1)?.type).toBe('tool/call')
    await h.dispose()
  })
})
