import { spawn } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startMockServer } from '@dsh/llm-mock-server'
import { beforeAll, describe, expect, it } from 'vitest'

const dsh = path.resolve(import.meta.dirname, '../packages/host/cli/bin/dsh.js')

interface FirstRequest {
  readonly bytes: number
  readonly system: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly tools: readonly { readonly function: { readonly name: string; readonly description: string } }[]
}

/** What a model is sent first by the built program, in an empty workspace and a new home. */
async function firstRequest(profile: string): Promise<FirstRequest> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'dsh-offer-')))
  const server = await startMockServer({ steps: [{ text: 'done' }] })
  const env = { ...process.env, HOME: home, DSH_HOME: home, DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'k' }
  const child = spawn(process.execPath, [dsh, '--profile', profile, 'go'], { cwd: home, env, stdio: 'ignore' })
  await new Promise((resolve) => child.once('exit', resolve))
  await server.close()
  await rm(home, { recursive: true, force: true })
  const body = server.requests.find((request) => !request.side)?.body
  return {
    bytes: Buffer.byteLength(JSON.stringify(body)),
    system: body.messages[0].content,
    messages: body.messages,
    tools: body.tools,
  }
}

describe('the headless profile', () => {
  let first: FirstRequest
  beforeAll(async () => {
    first = await firstRequest('headless')
  })

  it('offers exactly eleven tools', () => {
    expect(first.tools.map((tool) => tool.function.name)).toEqual([
      'bash',
      'edit',
      'glob',
      'grep',
      'job_kill',
      'job_list',
      'job_output',
      'read',
      'read_image',
      'todo_write',
      'write',
    ])
  })

  it.each([
    ['bash', 1836],
    ['edit', 59],
    ['glob', 407],
    ['grep', 269],
    ['job_kill', 136],
    ['job_list', 85],
    ['job_output', 258],
    ['read', 56],
    ['read_image', 545],
    ['write', 42],
  ])('describes %s in %d characters', (name, length) => {
    expect(first.tools.find((tool) => tool.function.name === name)?.function.description).toHaveLength(length)
  })

  it('sends no more than 20 kB first', () => {
    expect(first.bytes).toBeLessThanOrEqual(20_000)
  })

  it('guides the model about bash and its jobs, in this order', () => {
    const sections = [
      'Check the [exit code: N] marker on every bash result; investigate failures before moving on.',
      'Track every background job id you start.',
    ]
    const places = sections.map((section) => first.system.indexOf(section))
    expect(places[0]).toBeGreaterThan(0)
    expect(places[1]).toBeGreaterThan(places[0] as number)
  })
})

describe('the minimal profile', () => {
  let first: FirstRequest
  beforeAll(async () => {
    first = await firstRequest('minimal')
  })

  it('offers exactly a persistent bash and an editor', () => {
    expect(first.tools.map((tool) => [tool.function.name, tool.function.description.length])).toEqual([
      ['bash', 153],
      ['str_replace_editor', 1119],
    ])
  })

  it('sends its one line of prompt, the task, and nothing else', () => {
    expect(first.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'You are a helpful software engineer assistant.'],
      ['user', 'go'],
    ])
  })
})
