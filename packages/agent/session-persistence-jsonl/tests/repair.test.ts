import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseLog, structureProblems, validateSeed } from '@dsh/session'
import { describe, expect, it } from 'vitest'
import { repairLog, verifyLog } from '../src/index.ts'
import { append, host, linesOf, playTurn, prompt, temporaryRoot } from './scene.ts'

/** A stored session of three turns with a compaction, as lines. */
async function damaged(change: (lines: string[]) => string[] | string) {
  const root = temporaryRoot()
  const h = await host(root)
  const session = h.sessions.create({ id: 's', cwd: '/w' })
  playTurn(session, 1)
  playTurn(session, 2)
  const [first, , , last] = session.surface
  session.append(
    'user/message',
    { ...prompt('summary'), source: { kind: 'plugin', plugin: 'compact' } },
    {
      surfaceOp: { op: 'replace', start: first!, end: last! },
      sourceEventSeqs: session.surface.slice(0, 4),
    },
  )
  playTurn(session, 3)
  await h.sessions.dispose('s')
  const path = (await h.store.locate('s')) as string
  const changed = change(linesOf(path))
  const text = typeof changed === 'string' ? changed : `${changed.join('\n')}\n`
  writeFileSync(path, text)
  return { root, h, path, before: text, events: session.events.length }
}

async function repaired(change: (lines: string[]) => string[] | string) {
  const scene = await damaged(change)
  const report = await repairLog(scene.root, 's')
  expect((await verifyLog(scene.root, 's')).problems).toEqual([])
  if (report.backup !== undefined) expect(readFileSync(report.backup, 'utf8')).toBe(scene.before)
  expect(readdirSync(dirname(scene.path)).filter((name) => name.endsWith('.lock'))).toEqual([])
  const session = await scene.h.store.resume('s')
  const texts = session.deriveMessages().map((message) => message.id)
  await scene.h.dispose()
  return { ...scene, report, session, texts }
}

describe('repair', () => {
  it('leaves a whole log alone', async () => {
    const { report, path, before } = await repaired((lines) => lines)
    expect(report).toMatchObject({ notes: [] })
    expect(report.backup).toBeUndefined()
    expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true)
  })

  it('keeps everything but a garbled chunk in the middle', async () => {
    const { report, texts } = await repaired((lines) => lines.with(5, lines[5]!.slice(0, 20)))
    expect(report.notes.join('\n')).toMatch(/line 6: dropped/)
    expect(texts).toEqual(['u-summary', 'a2', 'r2', 'u-prompt 3', 'a3', 'r3'].slice(0, texts.length))
    expect(texts.length).toBeGreaterThanOrEqual(5)
  })

  it.each([
    ['a lost tool result', 'tool/result', 'answered c1'],
    ['a lost step end', 'step/end', 'closed step 1 of turn 1'],
    ['a lost turn end', 'turn/end', 'closed turn 1'],
    ['a lost step start', 'step/start', 'opened step 1'],
    ['a lost turn start', 'turn/start', 'opened turn 1'],
    ['a lost call line', 'tool/call', 'call c1 started is lost'],
    ['a lost answer', 'assistant/message', 'the message that asked for call c1 is lost'],
  ])('makes the log whole behind %s', async (_what, type, note) => {
    const { report, session } = await repaired((lines) => {
      const at = lines.findIndex((line) => line.startsWith(`{"type":"${type}"`))
      return lines.toSpliced(at, 1)
    })
    expect(report.notes.join('\n')).toContain(note)
    expect(structureProblems(session.events)).toEqual([])
    expect(session.deriveMessages().at(-1)?.id).toBe('r3')
  })

  it('drops a repetition, and the second of two different events', async () => {
    const { report } = await repaired((lines) => {
      const other = lines[3]!.replace('prompt 1', 'prompt X')
      return lines.toSpliced(4, 0, lines[3]!, other)
    })
    expect(report.notes).toEqual([
      'seq 2: dropped a repetition',
      'seq 2: two different events, kept the first (user/message), dropped user/message',
    ])
  })

  it('makes a lost header from its neighbours', async () => {
    const scene = await damaged((lines) => lines.with(0, '{"type":"sess'))
    playTurn(scene.h.sessions.create({ id: 'neighbour', cwd: '/w' }), 1)
    await scene.h.sessions.dispose('neighbour')
    const report = await repairLog(scene.root, 's')
    expect(report.notes).toContain('made a new header (cwd /w)')
    expect((await scene.h.store.inspect('s')).events.length).toBe(scene.events)
    await scene.h.dispose()
  })

  it('says why when nothing tells where a session without a header belongs', async () => {
    const scene = await damaged((lines) => lines.with(0, 'x'))
    await expect(repairLog(scene.root, 's')).rejects.toThrow('cannot be repaired: its header is lost')
    expect(readFileSync(scene.path, 'utf8')).toBe(scene.before)
    await scene.h.dispose()
  })

  it('refuses a log of a newer program, and drops its events when told to', async () => {
    const scene = await damaged((lines) => [...lines, '{"type":"future/x","seq":40,"time":1,"data":{}}'])
    const seq = scene.events
    writeFileSync(scene.path, readFileSync(scene.path, 'utf8').replace('"seq":40', `"seq":${seq}`))
    await expect(repairLog(scene.root, 's')).rejects.toMatchObject({ code: 'SESSION_FORMAT_UNSUPPORTED' })
    const report = await repairLog(scene.root, 's', { dropUnknown: true })
    expect(report.notes).toEqual([`seq ${seq}: dropped future/x, a type that nobody knows`])
    await scene.h.dispose()
  })

  it('keeps the border between what a fork inherited and what is its own', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    playTurn(h.sessions.create({ id: 's', cwd: '/w' }), 1)
    const child = await h.store.fork('s', { id: 'c' })
    playTurn(child, 2)
    await h.sessions.dispose('c')
    const path = (await h.store.locate('c')) as string
    const lines = linesOf(path)
    const at = lines.findIndex((line) => line.startsWith('{"type":"step/start"'))
    writeFileSync(path, `${lines.with(at + 2, 'garbage').join('\n')}\n`)
    await repairLog(root, 'c')
    const { header, events } = await h.store.inspect('c')
    expect(events[header.seedLength!]?.type).toBe('session/end-seed')
    expect(header.seedLength).toBeLessThan(child.header.seedLength!)
    await h.dispose()
  })

  it('survives raw newlines inside a line', async () => {
    const { texts } = await repaired((lines) => {
      const at = lines.findIndex(
        (line) => line.includes('I will look.') && line.startsWith('{"type":"assistant/chunk"'),
      )
      return lines.with(at, lines[at]!.replace('will look', 'will\nlook'))
    })
    expect(texts.at(-1)).toBe('r3')
  })
})

describe('verify', () => {
  it('holds the digests that were logged against what the log says now', async () => {
    const root = temporaryRoot()
    const h = await host(root)
    const session = h.sessions.create({ id: 's', cwd: '/w' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    session.append('user/message', prompt('the truth'), append)
    session.append('request/header', { header: { config: { provider: 'p', model: 'm' } }, reason: 'initial' })
    const { verifyDispatch } = await import('@dsh/session')
    const digest = verifyDispatch(session, {
      provider: 'p',
      model: 'm',
      messages: session.deriveMessages(),
      sessionId: 's',
    })
    session.append('request/digest', digest)
    session.append('step/end', { turn: 1, step: 1 })
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    await h.sessions.dispose('s')
    expect(await verifyLog(root, 's')).toMatchObject({ digests: 1, problems: [] })
    const path = join(root, '--w--', 's', 'session.jsonl')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('the truth', 'a lie'))
    expect((await verifyLog(root, 's')).problems).toEqual([
      'seq 4 request/digest: the messages before it are not those that were sent',
    ])
    writeFileSync(path, text.replace('"model":"m"', '"model":"n"'))
    expect((await verifyLog(root, 's')).problems).toEqual([
      'seq 4 request/digest: the header before it is not the one that was sent',
    ])
    validateSeed([...parseLog(text).events])
    await h.dispose()
  })
})
