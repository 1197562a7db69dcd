import { afterEach, expect, test } from 'vitest'
import { behaviours, type MockServer, type MockServerOptions, startMockServer } from '../src/index.ts'

const open: MockServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})
async function serve(options: MockServerOptions): Promise<MockServer> {
  const server = await startMockServer(options)
  open.push(server)
  return server
}
async function post(server: MockServer, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}
const withTools = { tools: [{ type: 'function' }] }

test('steps answer in order, and the last one answers all that follow', async () => {
  const server = await serve({ steps: [{ text: 'one' }, { status: 429, headers: { 'retry-after': '1' } }] })
  expect((await post(server, withTools)).text).toContain('"content":"one"')
  expect((await post(server, withTools)).status).toBe(429)
  expect((await post(server, withTools)).status).toBe(429)
})

test('a request without tools is a title, and takes no step', async () => {
  const server = await serve({ steps: [{ text: 'one' }] })
  expect((await post(server, {})).text).toContain('Mock title')
  expect((await post(server, withTools)).text).toContain('"content":"one"')
  expect(server.requests.map((request) => request.side)).toEqual([true, false])
})

test('long text can come in pieces that never split a character', async () => {
  const server = await serve({ steps: [{ text: 'a😀b', chunkSize: 1 }] })
  const { text } = await post(server, withTools)
  const parts = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1])
  expect(parts).toEqual(['a', '😀', 'b'])
})

test('random behaviour is the same for the same seed', async () => {
  const lengths = async (seed: number) => {
    const server = await serve({ steps: [{ behaviour: 'random' }], seed })
    const seen: number[] = []
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(`${server.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(withTools),
        signal: AbortSignal.timeout(300),
        redirect: 'manual',
      }).catch(() => undefined)
      seen.push(answer?.status ?? 0)
      await answer?.body?.cancel().catch(() => {})
    }
    return seen
  }
  expect(await lengths(7)).toEqual(await lengths(7))
})

test('closing ends what hangs', async () => {
  const server = await startMockServer({ steps: [{ behaviour: 'stall_before_headers' }] })
  const asked = post(server, withTools).catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await server.close()
  expect(await asked).toBeInstanceOf(Error)
})

test('there are at least 28 ways to misbehave', () => {
  expect(Object.keys(behaviours).length).toBeGreaterThanOrEqual(28)
})
