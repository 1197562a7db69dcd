import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import * as net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Context } from '@dsh/cordis'
import * as llm from '@dsh/llm'
import { type MockServer, startMockServer } from '@dsh/llm-mock-server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as deepseek from '../src/index.ts'
import { proxiesFrom, usesProxy } from '../src/proxy.ts'

const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')
const tls = path.join(import.meta.dirname, 'tls')
const undo: (() => unknown)[] = []
let model: MockServer
beforeEach(async () => {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'SSL_CERT_FILE']) {
    vi.stubEnv(name, '')
    vi.stubEnv(name.toLowerCase(), '')
  }
  vi.stubEnv('DEEPSEEK_API_KEY', 'test-key')
  model = await startMockServer({ steps: [{ text: 'hello' }], sideCalls: 'script' })
  undo.push(() => model.close())
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const step of undo.splice(0).reverse()) await step()
})

async function listen(server: http.Server | https.Server | net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as net.AddressInfo).port
}

/** A server that hands what it gets to the mock model, under TLS. */
function secureModel(): Promise<number> {
  const options = { key: readFileSync(path.join(tls, 'key.pem')), cert: readFileSync(path.join(tls, 'cert.pem')) }
  return listen(
    https.createServer(options, (request, response) => {
      const onward = http.request(
        `${model.url}${request.url}`,
        { method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        },
      )
      request.pipe(onward)
    }),
  )
}

/** A proxy that tunnels to `port`, whatever host was asked for, and writes down what that was. */
async function proxy(port: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const onward = http.request(
      {
        host: '127.0.0.1',
        port,
        path: new URL(request.url as string).pathname,
        method: request.method,
        headers: request.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    request.pipe(onward)
  })
  server.on('connect', (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`)
    const onward = net.connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [socket, onward]) end.on('error', () => {})
    undo.push(() => onward.destroy())
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, asked }
}

async function ask(baseURL: string, config: object = {}): Promise<string> {
  const ctx = new Context()
  try {
    await ctx.plugin(llm)
    await ctx.plugin(deepseek, deepseek.Config.parse({ baseURL, ...config }))
    let text = ''
    const options = { provider: 'deepseek-official', model: 'm', messages: [] }
    for await (const chunk of ctx.get('llm')!.stream(options)) {
      if (chunk.type === 'text-delta') text += chunk.text
      if (chunk.type === 'finish' && chunk.reason.kind === 'error')
        return `${chunk.reason.failure.code}: ${chunk.reason.failure.message}`
    }
    return text
  } finally {
    await ctx.fiber.dispose()
  }
}

const port = () => Number(new URL(model.url).port)

test('a proxy of the environment carries the request to a host that only it can reach', async () => {
  const { url, asked } = await proxy(port())
  vi.stubEnv('HTTP_PROXY', url)
  expect(await ask('http://model.test')).toBe('hello')
  expect(asked.length).toBe(1)
  expect(asked[0]).toContain('model.test')
  expect(model.requests[0]!.headers.authorization).toBe('Bearer test-key')
})

test('through a proxy TLS is spoken with the server, and its private certificate is trusted by caFile', async () => {
  const { url, asked } = await proxy(await secureModel())
  vi.stubEnv('HTTPS_PROXY', url)
  expect(await ask('https://model.test', { caFile: path.join(tls, 'cert.pem') })).toBe('hello')
  expect(asked).toEqual(['CONNECT model.test:443'])
  expect(await ask('https://model.test')).toMatch(
    /^TRANSPORT: DeepSeek API request to https:\/\/model\.test failed: .*certificate/,
  )
})

test('the built program finds its way through a proxy', { timeout: 30_000 }, async () => {
  const { url, asked } = await proxy(port())
  const home = mkdtempSync(path.join(tmpdir(), 'dsh-proxy-'))
  undo.push(() => rmSync(home, { recursive: true, force: true }))
  const child = spawn(process.execPath, [dsh, '--profile', 'headless', 'go'], {
    cwd: home,
    env: { ...process.env, DSH_HOME: path.join(home, 'dsh'), DEEPSEEK_BASE_URL: 'http://model.test', HTTP_PROXY: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  expect(stdout).toBe('hello\n')
  expect(asked.length).toBeGreaterThan(0)
})

test('a private certificate is refused until caFile or SSL_CERT_FILE names it', async () => {
  const base = `https://127.0.0.1:${await secureModel()}`
  expect(await ask(base)).toMatch(/^TRANSPORT: .*self-signed certificate/)
  expect(await ask(base, { caFile: path.join(tls, 'cert.pem') })).toBe('hello')
  vi.stubEnv('SSL_CERT_FILE', path.join(tls, 'cert.pem'))
  expect(await ask(base)).toBe('hello')
})

test('a configured certificate file that is not there stops the row, by name', async () => {
  await expect(ask('https://127.0.0.1:1', { caFile: '/nowhere/ca.pem' })).rejects.toThrow(
    /^llm-deepseek: caFile cannot be read: .*\/nowhere\/ca\.pem/,
  )
})

test('a proxy that is down is named as what failed', async () => {
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9')
  expect(await ask('http://model.test')).toMatch(
    /^TRANSPORT: DeepSeek API request to http:\/\/model\.test failed: .*127\.0\.0\.1:9/,
  )
})

test('the machine itself is reached directly, whatever the environment says', async () => {
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9')
  expect(await ask(model.url)).toBe('hello')
})

test('an address in the environment that is none stops the row, by name', async () => {
  vi.stubEnv('DEEPSEEK_BASE_URL', 'localhost:8000')
  const ctx = new Context()
  undo.push(() => ctx.fiber.dispose())
  await ctx.plugin(llm)
  await expect(ctx.plugin(deepseek, deepseek.Config.parse({}))).rejects.toThrow(
    'llm-deepseek: DEEPSEEK_BASE_URL is no http or https address: localhost:8000',
  )
})

describe('a connection opened ahead', () => {
  async function warmed(baseURL: string, config: object = {}): Promise<Context> {
    const ctx = new Context()
    undo.push(() => ctx.fiber.dispose())
    await ctx.plugin(llm)
    await ctx.plugin(deepseek, deepseek.Config.parse({ baseURL, ...config }))
    ctx.get('llm')!.warm()
    return ctx
  }
  async function say(ctx: Context): Promise<string> {
    let text = ''
    for await (const chunk of ctx.get('llm')!.stream({ provider: 'deepseek-official', model: 'm', messages: [] })) {
      if (chunk.type === 'text-delta') text += chunk.text
      if (chunk.type === 'finish' && chunk.reason.kind === 'error') return chunk.reason.failure.message
    }
    return text
  }
  const connected = async (n: number) => {
    while (model.connections < n) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  test('is the one that the first request uses', async () => {
    const ctx = await warmed(model.url)
    await connected(1)
    expect(await say(ctx)).toBe('hello')
    expect(model.connections).toBe(1)
  })

  test('under TLS trusts what the row trusts', async () => {
    const ctx = await warmed(`https://127.0.0.1:${await secureModel()}`, { caFile: path.join(tls, 'cert.pem') })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await say(ctx)).toBe('hello')
  })

  test('that the server closed meanwhile, or never took, costs nothing but itself', async () => {
    const fickle = net.createServer((socket) => socket.destroy())
    const at = await listen(fickle)
    const gone = await warmed(`http://127.0.0.1:${at}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await say(gone)).toMatch(/failed/)
    const refused = await warmed('http://127.0.0.1:9')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await say(refused)).toMatch(/ECONNREFUSED/)
  })
})

describe('which requests a proxy carries', () => {
  const uses = (url: string, env: Record<string, string>) => usesProxy(new URL(url), proxiesFrom(env))
  test.each([
    ['https://api.test', { HTTPS_PROXY: 'http://p' }, true],
    ['https://api.test', { https_proxy: 'http://p' }, true],
    ['https://api.test', { ALL_PROXY: 'http://p' }, true],
    ['https://api.test', { HTTP_PROXY: 'http://p' }, false],
    ['http://api.test', { HTTP_PROXY: 'http://p' }, true],
    ['http://localhost:11434/v1', { HTTP_PROXY: 'http://p' }, false],
    ['http://127.0.0.2/v1', { HTTP_PROXY: 'http://p' }, false],
    ['http://[::1]:80/v1', { HTTP_PROXY: 'http://p' }, false],
    ['https://api.test', { HTTPS_PROXY: 'http://p', NO_PROXY: 'test' }, false],
    ['https://api.test', { HTTPS_PROXY: 'http://p', NO_PROXY: 'other, .test' }, false],
    ['https://api.test', { HTTPS_PROXY: 'http://p', NO_PROXY: 'pi.test' }, true],
    ['https://api.test', { HTTPS_PROXY: 'http://p', NO_PROXY: 'api.test:8443' }, true],
    ['https://api.test:8443', { HTTPS_PROXY: 'http://p', NO_PROXY: 'api.test:8443' }, false],
    ['https://api.test', { HTTPS_PROXY: 'http://p', NO_PROXY: '*' }, false],
  ])('%s with %j: %s', (url, env, want) => {
    expect(uses(url, env as Record<string, string>)).toBe(want)
  })
})
