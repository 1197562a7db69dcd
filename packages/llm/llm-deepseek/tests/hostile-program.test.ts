import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type BehaviourName, type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')
const BOUND_MS = 15_000

let dir: string
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'dsh-hostile-'))
  const patch = {
    id: 'llm-deepseek',
    config: {
      streamIdleTimeoutMs: 400,
      streamStallTimeoutMs: 800,
      maxResponseBytes: 5_000_000,
      retryPolicy: { mode: 'normal', maxRetries: 1, backoff: { initialDelayMs: 5, maxDelayMs: 5, jitterRatio: 0 } },
    },
  }
  writeFileSync(path.join(dir, 'patch.yml'), JSON.stringify([patch]))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Run {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
  readonly requests: number
}

async function run(name: string, steps: readonly MockStep[]): Promise<Run> {
  const server = await startMockServer({ steps })
  const home = path.join(dir, name)
  const work = mkdtempSync(path.join(dir, 'work-'))
  const child = spawn(process.execPath, [dsh, '--profile', 'headless', '--patch', path.join(dir, 'patch.yml'), 'go'], {
    cwd: work,
    env: { ...process.env, DSH_HOME: home, DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'k' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BOUND_MS,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const exit = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const requests = server.requests.filter((request) => !request.side).length
  await server.close()
  return { exit, stdout, stderr, requests }
}

/** What the program does with a server that always behaves so: the answer, or the code on its one line. */
const endings: readonly (readonly [BehaviourName, string, number])[] = [
  ['success', 'mock answer', 1],
  ['slow_success', 'slow answer', 1],
  ['reasoning_success', 'mock answer', 1],
  ['crlf_and_bom', 'mock answer', 1],
  ['split_utf8', 'grüße 😀', 1],
  ['slow_drip', 'drip', 1],
  ['gzip', 'mock answer', 1],
  ['connection_reset', 'TRANSPORT', 2],
  ['stream_disconnect', 'TRANSPORT', 2],
  ['partial_disconnect', 'TRANSPORT', 2],
  ['stall', 'TIMEOUT', 2],
  ['stall_before_headers', 'TIMEOUT', 2],
  ['comments_forever', 'TIMEOUT', 2],
  ['empty', 'EMPTY_RESPONSE', 2],
  ['empty_body', 'STREAM_CLOSED', 2],
  ['stream_eof', 'STREAM_CLOSED', 2],
  ['partial_eof', 'STREAM_CLOSED', 2],
  ['malformed_json', 'MALFORMED_RESPONSE', 2],
  ['malformed_event', 'MALFORMED_RESPONSE', 2],
  ['half_json', 'MALFORMED_RESPONSE', 2],
  ['wrong_content_type', 'MALFORMED_RESPONSE', 2],
  ['html_page', 'MALFORMED_RESPONSE', 2],
  ['endless_line', 'MALFORMED_RESPONSE', 2],
  ['error_event', 'SERVER', 2],
  ['json_error_200', 'SERVER', 2],
  ['server_error', 'SERVER', 2],
  ['bad_gateway_html', 'SERVER', 2],
  ['rate_limit', 'RATE_LIMIT', 2],
  ['rate_limit_too_long', 'RATE_LIMIT', 1],
  ['auth_error', 'AUTH', 1],
  ['invalid_request', 'INVALID_REQUEST', 1],
  ['context_overflow', 'CONTEXT_WINDOW_EXCEEDED', 1],
  ['quota_exceeded', 'QUOTA', 1],
  ['not_found', 'HTTP_404', 1],
  ['redirect_loop', 'HTTP_307', 4],
  ['unknown_finish', 'CONTENT_FILTER', 1],
]

/** The adapter's own table plays all of them; here the short run takes one of each kind. */
const short = [
  'success',
  'connection_reset',
  'partial_eof',
  'stall',
  'html_page',
  'error_event',
  'auth_error',
  'redirect_loop',
]
const played = process.env['DSH_LONG'] === undefined ? endings.filter(([name]) => short.includes(name)) : endings

describe('the program against a server that always', () => {
  test.each(played)('does %s ends with %s', { timeout: BOUND_MS + 5000 }, async (behaviour, ending, requests) => {
    const got = await run(behaviour, [{ behaviour }])
    expect(got.requests).toBe(requests)
    if (!/^[A-Z_0-9]+$/.test(ending)) {
      expect(got).toMatchObject({ exit: 0, stdout: `${ending}\n`, stderr: '' })
      return
    }
    expect(got.stderr).toMatch(new RegExp(`^dsh: ${ending}: [^\\n]+\\n$`))
    expect(got.exit).toBeGreaterThan(0)
    expect(got.exit).toBeLessThan(6)
  })
})

test('a server that comes back after trouble gives the answer, once', { timeout: 30_000 }, async () => {
  const got = await run('mixed', [{ behaviour: 'partial_eof' }, { behaviour: 'success' }])
  expect(got).toMatchObject({ exit: 0, stdout: 'mock answer\n', stderr: '', requests: 2 })
})

test('ids that come empty, and ids that come twice, run every call once', { timeout: 30_000 }, async () => {
  for (const behaviour of ['empty_ids', 'duplicate_ids'] as const) {
    const got = await run(behaviour, [{ behaviour }, { text: 'done' }])
    expect(got).toMatchObject({ exit: 0, stdout: 'done\n', stderr: '', requests: 2 })
  }
})
