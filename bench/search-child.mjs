// Bundled and run by rows/search.mjs: one tool call through the whole pipeline, against ripgrep alone.
import { spawn } from 'node:child_process'
import { Context } from '@dsh/cordis'
import * as subprocess from '@dsh/subprocess-local'
import * as systemPrompt from '@dsh/system-prompt'
import * as search from '@dsh/tool-fs-search'
import * as tools from '@dsh/tools'

const [dir, name, args, argv] = process.argv.slice(2)
const ctx = new Context()
for (const [row, config] of [
  [systemPrompt, { persona: '' }],
  [tools, undefined],
  [subprocess, {}],
  [search, { sampleOverCapGlobResults: false }],
])
  await ctx.plugin(row, config)
await new Promise((resolve) => setTimeout(resolve, 50))

async function tool() {
  const started = performance.now()
  const result = await ctx.get('tools').execute({
    callId: 'bench',
    name,
    arguments: args,
    agent: { session: { id: 's', cwd: dir } },
    signal: new AbortController().signal,
  })
  const ms = performance.now() - started
  if (result.isError) throw new Error(result.content[0].text)
  return ms
}

function plain() {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(search.ripgrepPath(), JSON.parse(argv), { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.on('data', () => {})
    child.once('error', reject)
    child.once('close', () => resolve(performance.now() - started))
  })
}

const samples = []
for (let round = 0; round < 4; round++) {
  const first = round % 2 === 0 ? await tool() : undefined
  const rg = await plain()
  samples.push({ tool: first ?? (await tool()), rg })
}
const middle = (key) => samples.map((sample) => sample[key]).sort((a, b) => a - b)[1]
process.stdout.write(JSON.stringify({ toolMs: middle('tool'), rgMs: middle('rg') }))
process.exit(0)
