// The session log: how large it gets, and how long a long one takes to take up again.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { root } from '../../scripts/ready.mjs'

const deltas = 5000
const word = 'word '
const chunk = (delta, finish = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** Never the same: a model that repeats itself is stopped. */
const varied = (at) => `word${at} `
const answerBytes = Array.from({ length: deltas }, (_, at) => varied(at)).join('').length

/** An answer of 5000 deltas, each an event of the stream. */
const longAnswer = {
  raw: [...Array.from({ length: deltas }, (_, at) => chunk({ content: varied(at) })), chunk({}, 'stop'), '[DONE]'],
}

function logFiles(home) {
  return readdirSync(path.join(home, 'sessions'), { recursive: true })
    .filter((name) => path.basename(name) === 'session.jsonl')
    .map((name) => path.join(home, 'sessions', name))
}

/** A log of about 100 000 events: turns of 96 deltas each, as a stream writes them. */
function writeLongLog(home, cwd, id) {
  const time = Date.now()
  const rows = []
  const add = (type, data, more = {}) => rows.push({ type, seq: rows.length, time, data, ...more })
  for (let turn = 1; rows.length < 100_000; turn++) {
    const step = 1
    const prompt = {
      content: [{ type: 'text', text: `prompt ${turn}` }],
      source: { kind: 'user' },
      role: 'user',
      id: `u${turn}`,
    }
    add('turn/start', { turn })
    add('step/start', { turn, step })
    add('user/message', prompt, { surfaceOp: 'append' })
    if (turn === 1)
      add('request/header', {
        header: { config: { provider: 'deepseek-official', model: 'deepseek-v4-flash' } },
        reason: 'initial',
      })
    const first = rows.length
    add('assistant/chunk', { turn, step, chunk: { type: 'block-start', index: 0, blockType: 'text' } })
    for (let at = 0; at < 92; at++)
      add('assistant/chunk', { turn, step, chunk: { type: 'text-delta', index: 0, text: word } })
    const text = word.repeat(92)
    add('assistant/chunk', { turn, step, chunk: { type: 'block-end', index: 0, block: { type: 'text', text } } })
    add('assistant/chunk', { turn, step, chunk: { type: 'finish', reason: { kind: 'stop' } } })
    const source = { kind: 'model', provider: 'deepseek-official', model: 'deepseek-v4-flash' }
    const message = { role: 'assistant', content: [{ type: 'text', text }], source, id: `a${turn}` }
    const sourceEventSeqs = Array.from({ length: rows.length - first }, (_, at) => first + at)
    add('assistant/message', { turn, step, message }, { sourceEventSeqs, surfaceOp: 'append' })
    add('step/end', { turn, step })
    add('turn/end', { turn, reason: { kind: 'completed' } })
  }
  const project = `--${cwd.replace(/[/\\:]+/g, '-').replace(/^-+/, '')}--`
  const dir = path.join(home, 'sessions', project, id)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const header = { type: 'session', version: 0, id, createdAt: time, cwd, delegationDepth: 0 }
  writeFileSync(path.join(dir, 'session.jsonl'), [header, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''))
}

let sessions = 0
let child

/** `session-child.mjs` with the product's own sources in it. */
async function inChild(bench, ...words) {
  child ??= build({
    entryPoints: [path.join(root, 'bench/session-child.mjs')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outfile: path.join(bench.base, 'session-child.mjs'),
    logLevel: 'error',
  })
  await child
  const run = spawnSync(process.execPath, [path.join(bench.base, 'session-child.mjs'), ...words], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.stderr)
  return JSON.parse(run.stdout)
}

export const rows = [
  {
    name: 'log-bytes',
    what: 'log bytes per byte of an answer of 5000 deltas, request header excluded',
    unit: '×',
    once: true,
    target: { text: '≤ 5 ×', reached: (value) => value <= 5 },
    measure: async (bench) => {
      const home = path.join(bench.base, `home-log-${sessions++}`)
      await bench.task([longAnswer], { home })
      const lines = readFileSync(logFiles(home)[0], 'utf8').split('\n')
      const counted = lines.filter((line) => !line.startsWith('{"type":"request/header"'))
      return { value: Buffer.byteLength(counted.join('\n')) / answerBytes }
    },
  },
  {
    name: 'resume-100k',
    what: 'a log of 100 000 events: from the start of the program to its first request',
    unit: 'ms',
    target: { text: '< 1500 ms', reached: (value) => value < 1500 },
    measure: async (bench) => {
      const home = path.join(bench.base, `home-resume-${sessions++}`)
      const id = `session-00000000-0000-4000-8000-${String(sessions).padStart(12, '0')}`
      writeLongLog(home, bench.workspace, id)
      const started = Date.now()
      const run = await bench.task([{ text: 'Here again.' }], { home, words: ['--resume', id] })
      return { value: run.requests[0].at - started }
    },
  },
  {
    name: 'load-100k',
    what: 'a log of 100 000 events: read, checked and projected',
    unit: 'ms',
    target: { text: '< 1000 ms', reached: (value) => value < 1000 },
    measure: async (bench) => {
      const home = path.join(bench.base, `home-load-${sessions++}`)
      writeLongLog(home, bench.workspace, 'session-long')
      return { value: (await inChild(bench, 'load', logFiles(home)[0])).ms }
    },
  },
  ...[1, 10, 50].map((megabytes) => ({
    name: `guard-${megabytes}mb`,
    what: `the dispatch guard on a request that adds one message to ${megabytes} MB of history`,
    unit: 'ms',
    ratio: false,
    target: { text: '< 1 ms', reached: (value) => value < 1 },
    measure: async (bench) => ({ value: (await inChild(bench, 'guard', String(megabytes))).ms }),
  })),
]
