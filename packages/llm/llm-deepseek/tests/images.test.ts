import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startMockServer } from '@dsh/llm-mock-server'
import { afterEach, beforeEach, expect, test } from 'vitest'

const dsh = path.resolve(import.meta.dirname, '../../../host/cli/bin/dsh.js')
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'dsh-images-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('a picture that a tool read reaches a model that takes pictures, behind the result', {
  timeout: 30_000,
}, async () => {
  writeFileSync(path.join(dir, 'dot.png'), Buffer.from(png, 'base64'))
  const models = [{ id: 'deepseek-v4-flash', inputModalities: ['text', 'image'] }]
  writeFileSync(path.join(dir, 'p.yml'), JSON.stringify([{ id: 'llm-deepseek', config: { models } }]))
  const server = await startMockServer({
    steps: [{ calls: [{ name: 'read_image', args: { file_path: 'dot.png' } }] }, { text: 'a dot' }],
  })
  const child = spawn(process.execPath, [dsh, '--profile', 'headless', '--patch', path.join(dir, 'p.yml'), 'look'], {
    cwd: dir,
    env: { ...process.env, DSH_HOME: path.join(dir, 'home'), DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'k' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  const [, second] = server.requests.filter((request) => !request.side)
  await server.close()
  const [result, pictures] = second!.body.messages.slice(-2)
  expect(result).toMatchObject({ role: 'tool' })
  expect(pictures).toMatchObject({
    role: 'user',
    content: [
      { type: 'text', text: 'Attached image(s) from tool result:' },
      { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/\w+;base64,[A-Za-z0-9+/=]{20,}$/) } },
    ],
  })
})
