import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '@dsh/session'
import { expect, it } from 'vitest'
import { listSessions, readLog } from '../src/index.ts'
import { host, playTurn, temporaryRoot } from './scene.ts'

/** `npm run test:long` holds the figures, `npm test` their order of magnitude. */
const slack = process.env['DSH_LONG'] === undefined ? 4 : 1

/** Milliseconds of processor time so far: what else the machine does is not in it. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function best(times: readonly number[]): number {
  return Math.min(...times)
}

it('a hundred thousand events load and project within a second', async () => {
  const root = temporaryRoot()
  const h = await host(root, { writeBatchMaxDelayMs: 60_000 })
  const session = h.sessions.create({ id: 's', cwd: '/w' })
  for (let turn = 1; session.events.length < 100_000; turn++) playTurn(session, turn)
  await h.sessions.dispose('s')
  const path = (await h.store.locate('s')) as string
  const times: number[] = []
  for (let i = 0; i < 3; i++) {
    const start = cpu()
    const { events } = await readLog({ root, path, id: 's' })
    times.push(cpu() - start)
    expect(events.length).toBeGreaterThan(100_000)
  }
  const start = cpu()
  const again = await h.store.resume('s')
  again.deriveMessages()
  again.surfaceDigest()
  const resume = cpu() - start
  console.log(`100 000 events: load ${best(times).toFixed(0)} ms, resume and derive ${resume.toFixed(0)} ms`)
  expect(best(times)).toBeLessThan(1000 * slack)
  expect(resume).toBeLessThan(1500 * slack)
  await h.dispose()
}, 120_000)

it('an append costs the same at the end of a long log as at its start', async () => {
  const h = await host(temporaryRoot(), { writeBatchMaxDelayMs: 60_000 })
  const time = (session: Session, turns: number) => {
    const start = cpu()
    for (let i = 0; i < turns; i++) {
      playTurn(session, (session.fold(turnCount) as number) + 1)
      session.surfaceDigest()
    }
    return cpu() - start
  }
  const turnCount = {
    initial: () => 0,
    apply: (n: number, event: { type: string }) => n + (event.type === 'turn/start' ? 1 : 0),
  }
  const session = h.sessions.create({ cwd: '/w' })
  time(session, 300)
  const early = best([time(session, 100), time(session, 100), time(session, 100)])
  time(session, 3000)
  const late = best([time(session, 100), time(session, 100), time(session, 100)])
  console.log(`100 turns: ${early.toFixed(0)} ms early, ${late.toFixed(0)} ms after 3000`)
  expect(late).toBeLessThan(early * 3 + 5)
  await h.dispose()
}, 120_000)

it('ten thousand sessions are listed within a second', async () => {
  const root = temporaryRoot()
  for (let i = 0; i < 10_000; i++) {
    const id = `session-${i}`
    const dir = join(root, `--w-${i % 20}--`, id)
    mkdirSync(dir, { recursive: true })
    const header = { type: 'session', version: 0, id, createdAt: i, cwd: `/w/${i % 20}`, delegationDepth: 0 }
    const title = {
      type: 'session/title',
      seq: 0,
      time: 1,
      data: { title: `t${i}`, messageSeqs: [], source: { kind: 'user' } },
    }
    writeFileSync(join(dir, 'session.jsonl'), `${JSON.stringify(header)}\n${JSON.stringify(title)}\n`)
  }
  const timed = async () => {
    const start = cpu()
    const { length } = await listSessions(root)
    expect(length).toBe(10_000)
    return cpu() - start
  }
  const cold = await timed()
  const warm = best([await timed(), await timed(), await timed()])
  console.log(`10 000 sessions: ${cold.toFixed(0)} ms without an index, ${warm.toFixed(0)} ms with`)
  expect(warm).toBeLessThan(1000 * slack)
}, 120_000)
