import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type MockStep, startMockServer, wireChunk } from '@dsh/llm-mock-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../..')
const dsh = path.join(root, 'packages/host/cli/bin/dsh.js')
const doc = readFileSync(path.join(root, 'docs/models.md'), 'utf8')
const recipes = [...doc.matchAll(/^### (.+)\n\n```yaml\n([\s\S]*?)```/gm)].map(([, title, yaml]) => ({
  title: title as string,
  yaml: yaml as string,
}))

/** How the named server streams: a call, then an answer. */
const quirks: Record<string, readonly [MockStep, MockStep]> = {
  vLLM: [
    {
      raw: [
        wireChunk({ role: 'assistant', content: '' }),
        wireChunk({ reasoning_content: 'think' }),
        wireChunk({ tool_calls: [{ index: 0, id: 'chatcmpl-tool-1', type: 'function', function: { name: 'bash' } }] }),
        wireChunk({ tool_calls: [{ index: 0, function: { arguments: '{"command":"echo hi","description":"d"}' } }] }),
        wireChunk({ content: '' }, 'tool_calls'),
        { id: 'x', choices: [], usage: { prompt_tokens: 9, total_tokens: 12, completion_tokens: 3 } },
        '[DONE]',
      ],
    },
    { text: 'done' },
  ],
  'llama.cpp': [
    {
      raw: [
        wireChunk({ role: 'assistant', content: null }),
        wireChunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: '' } }] }),
        wireChunk({ tool_calls: [{ index: 0, function: { arguments: '{"command":"echo hi",' } }] }),
        wireChunk({ tool_calls: [{ index: 0, function: { arguments: '"description":"d"}' } }] }),
        wireChunk({}, 'tool_calls', { usage: { prompt_tokens: 9, completion_tokens: 3 }, timings: { predicted_n: 3 } }),
        '[DONE]',
      ],
    },
    { text: 'done' },
  ],
  // Whole calls in one delta, `stop` as their finish reason, and no [DONE] behind a finish.
  Ollama: [
    {
      raw: [
        wireChunk({
          role: 'assistant',
          content: '',
          tool_calls: [
            {
              id: 'call_1',
              index: 0,
              type: 'function',
              function: { name: 'bash', arguments: '{"command":"echo hi","description":"d"}' },
            },
          ],
        }),
        wireChunk({ role: 'assistant', content: '' }, 'stop'),
      ],
    },
    { raw: [wireChunk({ content: 'done' }), wireChunk({}, 'stop')] },
  ],
  'OpenRouter and other gateways': [
    {
      raw: [
        wireChunk({ role: 'assistant', content: '', reasoning: 'think' }),
        wireChunk({
          tool_calls: [
            {
              index: 0,
              id: 'c',
              type: 'function',
              function: { name: 'bash', arguments: '{"command":"echo hi","description":"d"}' },
            },
          ],
        }),
        wireChunk({}, 'tool_calls'),
        {
          choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
          usage: { prompt_tokens: 9, completion_tokens: 3 },
        },
        '[DONE]',
      ],
    },
    { text: 'done' },
  ],
  'A server that wants `max_completion_tokens`': [
    { calls: [{ name: 'bash', args: { command: 'echo hi', description: 'd' } }] },
    { text: 'done' },
  ],
}

let dir: string
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'dsh-recipes-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function play(yaml: string, steps: readonly MockStep[]) {
  const server = await startMockServer({ steps })
  const patch = path.join(dir, 'patch.yml')
  writeFileSync(patch, yaml.replace(/baseURL: .*/, `baseURL: ${server.url}/v1`))
  const env = { ...process.env, DSH_HOME: path.join(dir, 'home'), OPENROUTER_API_KEY: 'key-1', OTHER_API_KEY: 'key-2' }
  const child = spawn(process.execPath, [dsh, '--profile', 'headless', '--patch', patch, 'go'], {
    cwd: mkdtempSync(path.join(dir, 'w-')),
    env: { ...env, DEEPSEEK_API_KEY: '', DSH_PERMISSION_MODE: 'danger-full-access' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const exit = await new Promise((resolve) => child.on('close', resolve))
  const requests = server.requests.filter((request) => !request.side)
  await server.close()
  return { exit, stdout, stderr, requests }
}

describe('the recipes of docs/models.md', () => {
  test('are all played here', () => {
    expect(recipes.map((recipe) => recipe.title)).toEqual(Object.keys(quirks))
  })

  test.each(recipes)('$title runs a tool and answers', { timeout: 30_000 }, async ({ title, yaml }) => {
    const got = await play(yaml, quirks[title] as readonly MockStep[])
    expect(got).toMatchObject({ exit: 0, stdout: 'done\n', stderr: '' })
    const [first, second] = got.requests
    const known = [
      'model',
      'messages',
      'stream',
      'stream_options',
      'reasoning_effort',
      'tools',
      'max_tokens',
      'max_completion_tokens',
    ]
    expect(Object.keys(first!.body).filter((key) => !known.includes(key))).toEqual([])
    expect(first!.path).toBe('/v1/chat/completions')
    const key = /apiKeyEnv: (\w+)/.exec(yaml)?.[1]
    expect(first!.headers.authorization).toBe(
      key === 'OPENROUTER_API_KEY' ? 'Bearer key-1' : key === 'OTHER_API_KEY' ? 'Bearer key-2' : undefined,
    )
    const tool = second!.body.messages.at(-1)
    expect(tool).toMatchObject({ role: 'tool', content: 'hi\n' })
  })

  test('the gateway recipe sends reasoning back under the name that it came with', async () => {
    const { yaml } = recipes.find((recipe) => recipe.title.startsWith('OpenRouter'))!
    const { requests } = await play(yaml, quirks['OpenRouter and other gateways'] as readonly MockStep[])
    expect(requests[0]!.body.reasoning_effort).toBe('high')
    expect(requests[1]!.body.messages.at(-2)).toMatchObject({ role: 'assistant', reasoning: 'think' })
  })
})

test('every YAML block of the document is a patch that composes', () => {
  const blocks = [...doc.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] as string)
  const file = path.join(dir, 'all.yml')
  for (const block of blocks) {
    writeFileSync(file, block)
    const run = spawnSync(
      process.execPath,
      [dsh, '--profile', 'headless', '--strict', '--patch', file, '--dump-config'],
      {
        encoding: 'utf8',
        env: { ...process.env, DSH_HOME: path.join(dir, 'home') },
      },
    )
    expect({ status: run.status, stderr: run.stderr }, block).toEqual({ status: 0, stderr: '' })
  }
})
