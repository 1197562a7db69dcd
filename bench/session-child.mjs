// Bundled and run by rows/log.mjs: what a long session costs in memory, without a process around it.
import { readFileSync } from 'node:fs'
import { Context } from '@dsh/cordis'
import * as sessionRow from '@dsh/session'
import { deriveFrom, parseLog, validateSeed, verifyDispatch } from '@dsh/session'

const [what, argument] = process.argv.slice(2)

if (what === 'load') {
  const started = performance.now()
  const { events } = parseLog(readFileSync(argument, 'utf8'))
  validateSeed(events)
  const messages = deriveFrom(events)
  console.log(JSON.stringify({ ms: performance.now() - started, events: events.length, messages: messages.length }))
} else {
  const ctx = new Context()
  await ctx.plugin(sessionRow)
  const session = ctx.get('sessions').create({ id: 's', cwd: '/' })
  const text = 'x'.repeat(10_000)
  const user = (id) => ({ content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id })
  session.append('turn/start', { turn: 1 })
  session.append('step/start', { turn: 1, step: 1 })
  const config = { provider: 'p', model: 'm' }
  session.append('request/header', { header: { config }, reason: 'initial' })
  const messages = Number(argument) * 100
  for (let at = 0; at < messages; at++) session.append('user/message', user(`u${at}`), { surfaceOp: 'append' })
  const request = () => ({ ...config, messages: session.deriveMessages(), sessionId: 's' })
  verifyDispatch(session, request())
  const times = []
  for (let at = 0; at < 50; at++) {
    session.append('user/message', user(`n${at}`), { surfaceOp: 'append' })
    const next = request()
    const started = performance.now()
    verifyDispatch(session, next)
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  console.log(JSON.stringify({ ms: times[25] }))
}
