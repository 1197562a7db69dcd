import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { deriveFrom, parseLog } from '@dsh/session'
import { describe, expect, it } from 'vitest'
import { verifyLog } from '../src/index.ts'
import { host, linesOf, pathOf, playTurn, temporaryRoot } from './scene.ts'

describe('resume', () => {
  it('continues a finished log behind one session/end-seed', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    const first = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(first, 1)
    await h.sessions.dispose('s')
    const session = await h.store.resume('s')
    expect(session.header).toEqual(first.header)
    expect(session.firstLiveSeq).toBe(first.events.length)
    playTurn(session, 2)
    await h.store.flush(session)
    const { events } = parseLog(readFileSync(await pathOf(h, session), 'utf8'))
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i))
    expect(events.filter((event) => event.type === 'session/end-seed').length).toBe(1)
    expect(deriveFrom(events)).toEqual(session.deriveMessages())
    await h.dispose()
  })

  it.each([
    ['call', 'TOOL_OUTCOME_UNKNOWN'],
    ['message', 'TOOL_NOT_STARTED'],
  ] as const)('closes a turn that died behind its %s', async (until, code) => {
    const h = await host(temporaryRoot())
    const dead = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(dead, 1, until)
    await h.sessions.dispose('s')
    const session = await h.store.resume('s')
    const closers = session.events.slice(dead.events.length)
    expect(closers.map((event) => event.type)).toEqual(['tool/result', 'step/end', 'turn/end', 'session/end-seed'])
    const result = closers[0]
    expect(result?.type === 'tool/result' && result.data.error?.code).toBe(code)
    expect(result?.sourceEventSeqs).toEqual(code === 'TOOL_NOT_STARTED' ? undefined : [dead.events.length - 1])
    expect(session.openTurn).toBeUndefined()
    const onDisk = parseLog(readFileSync(await pathOf(h, session), 'utf8')).events
    expect(
      onDisk
        .slice(dead.events.length)
        .map((event) => event.type)
        .slice(0, 3),
    ).toEqual(['tool/result', 'step/end', 'turn/end'])
    await h.dispose()
  })

  it('drops a cut last record, repairs the file, and a second resume is clean', async () => {
    const h = await host(temporaryRoot())
    const first = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(first, 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    truncateSync(path, statSync(path).size - 7)
    expect((await h.store.inspect('s')).problem).toContain('the last line has no end')
    const second = await h.store.resume('s')
    expect(second.events.slice(-2).map((event) => event.type)).toEqual(['turn/end', 'session/end-seed'])
    await h.sessions.dispose('s')
    expect((await h.store.inspect('s')).problem).toBeUndefined()
    const third = await h.store.resume('s')
    expect(third.events.length).toBe(second.events.length)
    await h.dispose()
  })

  const tails: [string, (path: string) => void, string, string | undefined][] = [
    [
      'a record without its end',
      (path) => appendFileSync(path, '{"type":"turn/st'),
      'line 12 of its log was not readable (the last line has no end) and was cut off: 16 bytes of PATH',
      undefined,
    ],
    [
      'a whole record with a wrong number',
      (path) => appendFileSync(path, '{"type":"turn/start","seq":40,"time":1,"data":{"turn":2}}\n'),
      'line 12 of its log was not readable (its seq is 40, expected 13) and was cut off PATH; it is kept in KEPT',
      '{"type":"turn/start","seq":40,"time":1,"data":{"turn":2}}\n',
    ],
    [
      'a line that is no record',
      (path) => appendFileSync(path, '[]\n'),
      'line 12 of its log was not readable (it is not an event) and was cut off PATH; it is kept in KEPT',
      '[]\n',
    ],
  ]
  it.each(tails)('tells that %s at the end was dropped', async (_what, damage, text, tail) => {
    const h = await host(temporaryRoot())
    const told: string[] = []
    h.ctx.logger.exporter({ export: (message) => void told.push(message.args.join(' ')) })
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    damage(path)
    const fork = await h.store.fork('s', { id: 'child' })
    expect(fork.events.length).toBeGreaterThan(0)
    expect(told.splice(0)).toEqual([expect.stringContaining('was left out of the copy "child"')])
    await h.store.resume('s')
    const kept = readdirSync(dirname(path)).find((name) => name.startsWith('torn-'))
    const keptPath = kept === undefined ? '' : join(dirname(path), kept)
    expect(told).toEqual([`session "s": ${text.replace('PATH', path).replace('KEPT', keptPath)}`])
    expect(keptPath === '' ? undefined : readFileSync(keptPath, 'utf8')).toBe(tail)
    await h.sessions.dispose('s')
    await h.store.resume('s')
    expect(told.length).toBe(1)
    await h.dispose()
  })

  it('may begin with a byte order mark', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    writeFileSync(path, `\uFEFF${readFileSync(path, 'utf8')}`)
    const [listed] = await h.store.list()
    expect(listed).toMatchObject({ header: { id: 's' }, prompt: 'prompt 1' })
    expect(listed?.problem).toBeUndefined()
    expect((await h.store.inspect('s')).problem).toBeUndefined()
    const session = await h.store.resume('s')
    playTurn(session, 2)
    await h.sessions.dispose('s')
    expect((await verifyLog(root, 's')).problems).toEqual([])
    expect((await h.store.inspect('s')).events.length).toBe(session.events.length)
    expect(parseLog(readFileSync(path, 'utf8')).events.length).toBe(session.events.length)
    await h.dispose()
  })

  it('keeps a longer torn tail beside the log', async () => {
    const h = await host(temporaryRoot())
    const first = h.sessions.create({ id: 's', cwd: '/w' })
    playTurn(first, 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    appendFileSync(path, '{"type":"turn/start","seq":13,"time":1,"data":{"turn":2}}\n{garbage\n{"type":"step/start"}\n')
    const told: string[] = []
    h.ctx.logger.exporter({ export: (message) => void told.push(message.args.join(' ')) })
    const session = await h.store.resume('s')
    expect(told).toEqual([expect.stringContaining('line 13 of its log and 1 more were not readable')])
    expect(session.events.at(-3)?.type).toBe('turn/start')
    const kept = readdirSync(dirname(path)).find((name) => name.startsWith('torn-'))
    expect(readFileSync(join(dirname(path), kept!), 'utf8')).toBe('{garbage\n{"type":"step/start"}\n')
    await h.dispose()
  })

  const broken: [string, (lines: string[]) => string[], string][] = [
    [
      'a garbled line',
      (lines) => lines.with(3, '{"type":'),
      'corrupt session log: unparsable committed event at line 4',
    ],
    ['a missing line', (lines) => lines.toSpliced(3, 1), 'seq gap in committed region at line 4 (expected 2, got 3)'],
    [
      'a doubled line',
      (lines) => lines.toSpliced(3, 0, lines[3]!),
      'seq gap in committed region at line 5 (expected 3, got 2)',
    ],
    [
      'an odd header',
      (lines) => lines.with(0, '{"type":"other"}'),
      'corrupt session log: first line is not a session header',
    ],
    ['a broken header', (lines) => lines.with(0, 'x'), 'corrupt session log: header line is not valid JSON'],
    [
      'another id',
      (lines) => lines.with(0, lines[0]!.replace('"s"', '"t"')),
      'session header id "t" does not match session id "s"',
    ],
  ]
  it.each(broken)('refuses a log with %s before a committed turn', async (_what, change, text) => {
    const h = await host(temporaryRoot())
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    const before = `${change(linesOf(path)).join('\n')}\n`
    writeFileSync(path, before)
    await expect(h.store.resume('s')).rejects.toMatchObject({
      name: 'SessionPersistenceCorruptionError',
      message: `stored session "s" failed validation: ${text}`,
    })
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(dirname(path))).toEqual(['session.jsonl'])
    expect((await h.store.list()).length).toBe(1)
    await h.dispose()
  })

  it('refuses a newer format and an unknown type, and loads an ignorable one', async () => {
    const h = await host(temporaryRoot())
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    const path = (await h.store.locate('s')) as string
    const lines = linesOf(path)
    const seq = 13
    writeFileSync(path, `${lines.with(0, lines[0]!.replace('"version":0', '"version":1')).join('\n')}\n`)
    await expect(h.store.resume('s')).rejects.toThrow(
      `session "s" uses log format v1, but this harness reads only v0: the log was written by a newer harness — upgrade the harness to open it (raw log: ${path})`,
    )
    const future = `{"type":"future/x","seq":${seq},"time":1,"data":{}`
    writeFileSync(path, `${[...lines, `${future}}`].join('\n')}\n`)
    await expect(h.store.resume('s')).rejects.toThrow(
      `session "s" contains event type "future/x" (seq ${seq}) unknown to this harness and not marked ignorable`,
    )
    writeFileSync(path, `${[...lines, `${future},"ignorable":true}`].join('\n')}\n`)
    expect((await h.store.resume('s')).events.length).toBe(seq + 2)
    await h.dispose()
  })

  it('finds no log, a log in the wrong place and a flat file, each with its own text', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    await expect(h.store.resume('nobody')).rejects.toThrow('session "nobody" not found')
    mkdirSync(root, { recursive: true })
    writeFileSync(join(root, 'flat.jsonl'), '')
    await expect(h.store.resume('flat')).rejects.toThrow('uses the unsupported flat-file layout; ')
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    await h.sessions.dispose('s')
    renameSync(join(root, '--w--'), join(root, '--v--'))
    await expect(h.store.resume('s')).rejects.toThrow('which is not where its header puts it')
    await h.dispose()
  })

  it('refuses a session that is live here', async () => {
    const h = await host(temporaryRoot())
    h.sessions.create({ id: 's' })
    await expect(h.store.resume('s')).rejects.toThrow('cannot prepare session "s" while it is live')
  })
})
