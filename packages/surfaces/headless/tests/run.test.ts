import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import * as agentRow from '@dsh/agent'
import * as loopRow from '@dsh/agent-loop'
import type { Context } from '@dsh/cordis'
import * as llmRow from '@dsh/llm'
import * as sessionRow from '@dsh/session'
import * as storeRow from '@dsh/session-persistence-jsonl'
import * as promptRow from '@dsh/system-prompt'
import { bootRows, call, type Reply, type RowSpec, say, scriptedModel, tempWorkspace } from '@dsh/testkit'
import type { JsonSchema } from '@dsh/tools'
import * as toolsRow from '@dsh/tools'
import { violations } from '@dsh/tools'
import { expect, test } from 'vitest'
import { parseCommandLine } from '../src/command-line.ts'
import { createOutput } from '../src/output.ts'
import type { ResultDocument } from '../src/result-document.ts'
import { type RunHost, run } from '../src/run.ts'

interface Setup {
  readonly replies: readonly Reply[]
  readonly rows?: readonly RowSpec[]
  readonly stdin?: string
  readonly host?: Partial<RunHost>
}

/** Real rows and a scripted model; each call is one run of the program. */
async function program({ replies, rows = [], stdin = '', host: more = {} }: Setup) {
  const home = await tempWorkspace()
  const workspace = await tempWorkspace()
  const model = scriptedModel(replies)
  const echo = {
    name: 'echo',
    inject: ['tools'],
    apply: async (ctx: Context) => {
      ctx.tools.register({
        name: 'echo',
        description: '',
        parameters: { type: 'object', properties: {} },
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value as string }] },
        execute: async () => 'echo',
      })
    },
  }
  const { ctx } = await bootRows(
    [
      { module: llmRow },
      { module: model.row },
      { module: sessionRow },
      { module: storeRow, config: { root: home.path('sessions') } },
      { module: promptRow },
      { module: agentRow },
      { module: toolsRow },
      { module: echo },
      { module: loopRow },
      ...rows,
    ],
    { home: home.path('home') },
  )
  const start = async (args: readonly string[], signal = new AbortController().signal) => {
    const written = { out: '', err: '' }
    const streams = {
      out: (text: string) => {
        written.out += text
      },
      err: (text: string) => {
        written.err += text
      },
      flushed: async () => {},
    }
    const parsed = parseCommandLine(args, { cwd: workspace.root, stdinIsTerminal: false })
    if (parsed.kind !== 'run') throw new Error(JSON.stringify(parsed))
    const host: RunHost = {
      agents: ctx.agents,
      defaultModel: { current: () => ({ provider: 'scripted', model: 'm1' }) },
      llm: ctx.llm,
      store: ctx.sessionPersistence,
      stdin: Readable.from([Buffer.from(stdin)]),
      streams,
      listen: (listener) => void ctx.on('session/event', listener),
      setPermissionMode: () => {},
      costUsd: (session) => session.events.filter(({ type }) => type === 'step/end').length / 4,
      hasPrices: () => true,
      settleLeftovers: async () => {},
      writeFile: async () => {},
      checkWritable: async () => {},
      disabledRows: () => [],
      ...more,
    }
    const code = await run(parsed.options, host, signal)
    await Promise.all(ctx.agents.list().map((agent) => agent.dispose()))
    const { out, err } = written
    const document = (): ResultDocument => JSON.parse(out.trimEnd().split('\n').at(-1)!)
    return {
      code,
      out,
      err,
      document,
      lines: () =>
        out
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
    }
  }
  return { start, model, workspace, ctx }
}

test('text: the last answer and one newline on stdout, nothing on stderr, exit 0', async () => {
  const { start } = await program({
    replies: [{ text: 'looking', calls: [{ name: 'echo', args: {} }] }, say('found it')],
  })
  expect(await start(['find', 'it'])).toMatchObject({ code: 0, out: 'found it\n', err: '' })
})

test('json: one document with the sums of the run', async () => {
  const { start } = await program({ replies: [call('echo', {}), say('ok')] })
  const { code, lines, document } = await start(['--output-format', 'json', 'go'])
  expect(code).toBe(0)
  expect(lines()).toHaveLength(1)
  expect(document()).toMatchObject({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'ok',
    num_turns: 2,
    total_cost_usd: 0.5,
    cost_known: true,
  })
  expect(document().session_id).toMatch(/^session-/)
  expect(document().usage.output_tokens).toBeGreaterThan(0)
})

test('stream-json: init, every event from the prompt on, the result', async () => {
  const { start } = await program({ replies: [say('ok')] })
  const { lines } = await start(['--output-format', 'stream-json', 'go'])
  const all = lines()
  expect(all[0]).toMatchObject({ type: 'init', provider: 'scripted', model: 'm1' })
  expect(all[1]).toMatchObject({ type: 'session_event', event: { type: 'agent/inbox/spliced' } })
  expect(all.at(-2)).toMatchObject({ type: 'session_event', event: { type: 'turn/end' } })
  expect(all.at(-1)).toMatchObject({ type: 'result', result: 'ok' })
  expect(all.map(({ event }) => event?.seq).filter((seq) => seq !== undefined)).toEqual(
    all.slice(1, -1).map((_line, i) => i + all[1].event.seq),
  )
})

const endings: [string, Partial<Setup>, readonly string[], number, string, string][] = [
  [
    'a failed turn',
    { replies: [{ failure: { code: 'SERVER', message: 'down' } }] },
    [],
    1,
    'dsh: SERVER: down\n',
    'error_during_execution',
  ],
  [
    'missing credentials',
    { replies: [{ failure: { code: 'MISSING_CREDENTIAL', message: 'no key' } }] },
    [],
    5,
    'dsh: MISSING_CREDENTIAL: no key\n',
    'error_during_execution',
  ],
  [
    'an answer at the output cap',
    { replies: [{ text: 'half', finish: 'max-tokens' }] },
    [],
    1,
    'dsh: MAX_TOKENS: the answer was cut at the output token limit\n',
    'error_max_tokens',
  ],
  [
    'a limit',
    { replies: [call('echo', {}), say('never')] },
    ['--max-turns', '1'],
    3,
    'dsh: MAX_TURNS: the limit of 1 model request per turn is reached\n',
    'error_max_turns',
  ],
  [
    'a blocked prompt',
    {
      replies: [],
      rows: [
        {
          module: {
            name: 'gate',
            apply: async (ctx: Context) => {
              ctx.on('agent/pre-step', async () => ({ kind: 'reject', reason: 'against the rules' }))
            },
          },
        },
      ],
    },
    [],
    4,
    'dsh: BLOCKED: against the rules\n',
    'error_blocked',
  ],
]

for (const [what, setup, flags, code, err, subtype] of endings)
  test(`${what} has one exit code and one explanation in every format`, async () => {
    const make = () => program({ replies: [], ...setup } as Setup)
    expect(await (await make()).start([...flags, 'go'])).toMatchObject({ code, err })
    for (const format of ['json', 'stream-json']) {
      const run = await (await make()).start([...flags, '--output-format', format, 'go'])
      expect(run).toMatchObject({ code, err: '' })
      expect(run.document()).toMatchObject({ subtype, is_error: true, error: { message: expect.any(String) } })
    }
  })

test('the task comes from a pipe when there are no words, and a blank pipe is a usage error', async () => {
  const piped = await program({ replies: [say('ok')], stdin: 'first line\nsecond\n' })
  await piped.start([])
  expect(JSON.stringify(piped.model.requests[0]!.messages)).toContain('first line\\nsecond"')
  const blank = await program({ replies: [], stdin: ' \n' })
  expect(await blank.start([])).toMatchObject({ code: 2, err: expect.stringContaining('a task is required') })
  const document = (await blank.start(['--output-format', 'json'])).document()
  expect(document).toMatchObject({ subtype: 'error_usage', is_error: true, session_id: '' })
})

test('continue takes the newest session of this directory, resume the named one, and both keep its model', async () => {
  const { start, model } = await program({ replies: [say('a'), say('b'), say('c'), say('d')] })
  await start(['--session-id', 'one', '-m', 'other-model', 'first topic'])
  await start(['--session-id', 'two', 'second topic'])
  await start(['-c', 'more'])
  expect(JSON.stringify(model.requests[2]!.messages)).toMatch(/second topic.*more/)
  await start(['-r', 'one', 'again'])
  expect(JSON.stringify(model.requests[3]!.messages)).toMatch(/first topic.*again/)
  expect(model.requests.map((request) => request.model)).toEqual(['other-model', 'm1', 'm1', 'other-model'])
})

test('a fork leaves its source alone', async () => {
  const { start, ctx } = await program({ replies: [say('a'), say('b')] })
  await start(['--session-id', 'source', 'start'])
  const before = (await ctx.sessionPersistence.inspect('source')).events.length
  const fork = await start(['-r', 'source', '--fork-session', '--session-id', 'copy', '--output-format', 'json', 'go'])
  expect(fork.document()).toMatchObject({ session_id: 'copy', result: 'b' })
  expect((await ctx.sessionPersistence.inspect('source')).events.length).toBe(before)
  expect((await ctx.sessionPersistence.inspect('copy')).header).toMatchObject({ parentSession: 'source' })
})

test('a session that is missing, taken, or not there to continue is a usage error before anything is asked', async () => {
  const { start, model } = await program({ replies: [say('a')] })
  expect(await start(['-c', 'go'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('no session to continue in'),
  })
  expect(await start(['-r', 'nope', 'go'])).toMatchObject({ code: 2, err: 'error: session "nope" not found\n' })
  await start(['--session-id', 'mine', 'go'])
  expect(await start(['--session-id', 'mine', 'go'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('exists already'),
  })
  expect(model.requests).toHaveLength(1)
})

test('a run without a session leaves nothing to continue', async () => {
  const { start } = await program({ replies: [say('a')] })
  expect(await start(['--no-session', 'go'])).toMatchObject({ code: 0 })
  expect(await start(['-c', 'go'])).toMatchObject({ code: 2 })
})

test('a stopped run ends its turn in the log and prints its document, but no half answer as text', async () => {
  const slow: RowSpec = {
    module: {
      name: 'slow',
      apply: async (ctx: Context) => {
        ctx.on('agent/pre-step', async (_input, next) => {
          await new Promise((resolve) => setTimeout(resolve, 200))
          return next()
        })
      },
    },
  }
  const { start, ctx } = await program({ replies: [say('never')], rows: [slow] })
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 60)
  const text = await start(['--session-id', 's', 'go'], stop.signal)
  expect(text).toMatchObject({ out: '', err: 'dsh: ABORTED: the run was interrupted\n' })
  const { events } = await ctx.sessionPersistence.inspect('s')
  expect(events.at(-1)).toMatchObject({
    type: 'turn/end',
    data: { reason: { kind: 'aborted', reason: { kind: 'user' } } },
  })
})

test('the last answer is written to a file too; a file that cannot be written fails the run', async () => {
  const written: [string, string][] = []
  const good = await program({
    replies: [say('the answer')],
    host: { writeFile: async (file, text) => void written.push([file, text]) },
  })
  await good.start(['--output-last-message', 'last.txt', 'go'])
  expect(written).toEqual([[good.workspace.path('last.txt'), 'the answer']])
  const bad = await program({
    replies: [say('the answer')],
    host: {
      writeFile: async () => {
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      },
    },
  })
  expect(await bad.start(['--output-last-message', 'x', 'go'])).toMatchObject({
    code: 1,
    out: 'the answer\n',
    err: 'dsh: ENOSPC: --output-last-message: no space\n',
  })
})

test('what a document and a stream line look like is what docs/headless.md says', async () => {
  const schemas = await documentedSchemas()
  const samples = [
    { replies: [call('echo', {}), say('ok')], flags: [] },
    { replies: [{ failure: { code: 'SERVER', message: 'down' } }], flags: [] },
    { replies: [call('echo', {}), say('no')], flags: ['--max-turns', '1'] },
  ]
  for (const { replies, flags } of samples) {
    const { start } = await program({ replies })
    const lines = (await start(['--output-format', 'stream-json', ...flags, 'go'])).lines()
    expect(violations(schemas.get('result')!, lines.at(-1), 'result')).toEqual([])
    for (const line of lines.slice(0, -1)) expect(violations(schemas.get('line')!, line, 'line')).toEqual([])
  }
  expect(violations(schemas.get('result')!, { type: 'result' }, 'result')).not.toEqual([])
})

async function documentedSchemas(): Promise<Map<string, JsonSchema>> {
  const text = await readFile(path.resolve(import.meta.dirname, '../../../../docs/headless.md'), 'utf8')
  const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json!) as JsonSchema)
  return new Map(blocks.map((schema) => [schema.title!, schema]))
}

test('the money of a resumed run is its own, and a budget for a model without prices is a usage error', async () => {
  const priced = await program({ replies: [say('a'), say('b')] })
  await priced.start(['--session-id', 's', 'go'])
  expect((await priced.start(['-r', 's', '--output-format', 'json', 'go'])).document().total_cost_usd).toBe(0.25)
  const unpriced = await program({ replies: [say('a')], host: { hasPrices: () => false } })
  expect(await unpriced.start(['--max-budget-usd', '1', 'go'])).toMatchObject({
    code: 2,
    err: 'error: --max-budget-usd: there are no prices for model "m1" of "scripted"\n',
  })
  expect((await unpriced.start(['--output-format', 'json', 'go'])).document()).toMatchObject({
    cost_known: false,
    total_cost_usd: 0,
  })
})

test('text: a long wait before the next attempt is one line on stderr, a short one none', () => {
  let err = ''
  const streams = {
    out: () => {},
    err: (line: string) => {
      err += line
    },
    flushed: async () => {},
  }
  const output = createOutput('text', streams)
  const retry = (delayMs: number) =>
    output.event(
      {} as never,
      {
        type: 'llm/retry',
        data: { failure: { code: 'RATE_LIMIT', message: 'busy' }, delayMs, retry: 1, maxRetries: 5 },
      } as never,
    )
  retry(1000)
  expect(err).toBe('')
  retry(30_000)
  expect(err).toBe('dsh: RATE_LIMIT: busy; asking again in 30 s (retry 1 of 5)\n')
})
