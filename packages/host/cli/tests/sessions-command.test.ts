import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from '../src/commands/sessions.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'dsh-home-'))
  vi.stubEnv('DSH_HOME', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

function store(id: string, text: string, cwd = process.cwd(), extra: object[] = []): string {
  const key = `--${cwd
    .replace(/[/\\:]+/g, '-')
    .replace(/^-+/, '')
    .replace(/[^A-Za-z0-9._-]/g, (c) => `~${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)}--`
  const dir = join(home, 'sessions', key, id)
  mkdirSync(dir, { recursive: true })
  const events: object[] = [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'step/start', data: { turn: 1, step: 1 } },
    {
      type: 'user/message',
      data: { content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: 'u' },
      surfaceOp: 'append',
    },
    {
      type: 'assistant/message',
      data: {
        turn: 1,
        step: 1,
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: `heard ${text}` }],
          source: { kind: 'model', provider: 'p', model: 'm' },
          id: 'a',
        },
      },
      surfaceOp: 'append',
    },
    { type: 'step/end', data: { turn: 1, step: 1 } },
    { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } },
    ...extra,
  ]
  const lines = events.map((event, seq) => {
    const { type, data, ...rest } = event as { type: string; data: object }
    return JSON.stringify({ type, seq, time: 1_770_000_000_000, data, ...rest })
  })
  const header = JSON.stringify({ type: 'session', version: 0, id, createdAt: 1, cwd, delegationDepth: 0 })
  const path = join(dir, 'session.jsonl')
  writeFileSync(path, `${[header, ...lines].join('\n')}\n`)
  return path
}

async function sessions(...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0)
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => err.push(String(text)) > 0)
  try {
    const code = await run(args)
    return { code, out: out.join(''), err: err.join(''), json: () => JSON.parse(out.join('')) }
  } finally {
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

describe('dsh sessions', () => {
  it('lists, shows and deletes', async () => {
    const path = store('abc-1', 'find the marmot')
    store('abd-2', 'elsewhere', '/other')
    expect((await sessions('list')).out).toContain('find the marmot')
    expect(
      (await sessions('list', '--json'))
        .json()
        .map((one: { id: string }) => one.id)
        .sort(),
    ).toEqual(['abc-1', 'abd-2'])
    expect((await sessions('list', '--here', '--json')).json()).toMatchObject([
      { id: 'abc-1', prompt: 'find the marmot', path },
    ])
    const shown = await sessions('show', 'abc')
    expect(shown.out).toContain('> find the marmot\n\nheard find the marmot')
    expect((await sessions('show', 'abc', '--json')).json()).toMatchObject({ id: 'abc-1', turns: 1 })
    expect((await sessions('last')).out).toContain('marmot')
    await expect(sessions('show', 'ab')).rejects.toThrow('"ab" fits 2 sessions')
    await expect(sessions('show', 'zzz')).rejects.toThrow('session "zzz" not found')
    const spill = join(home, 'spill', 'session-65397a5f96c8')
    mkdirSync(spill, { recursive: true })
    expect((await sessions('delete', 'abc-1', 'nobody')).code).toBe(1)
    expect(existsSync(spill)).toBe(false)
    expect(existsSync(path)).toBe(false)
    expect((await sessions('delete', 'abd-2')).code).toBe(0)
    expect((await sessions('list', '--json')).json()).toEqual([])
  })

  it('names the file of a log that it cannot read', async () => {
    const path = store('a-one', 'hello')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"version":0', '"version":7'))
    expect((await sessions('list')).out).toContain(`(raw log: ${path})`)
  })

  it('tells what a torn log lost to a copy or a new title', async () => {
    const path = store('a-one', 'hello')
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"type":"turn/start","seq":40,"time":1,"data":{"turn":2}}\n`)
    expect((await sessions('fork', 'a-one', '--id', 'b')).err).toMatch(/its seq is 40, .* left out of the copy "b"/)
    expect((await sessions('rename', 'a-one', 'new name')).err).toMatch(/was cut off .*; it is kept in .*torn-/)
    expect((await sessions('rename', 'a-one', 'newer name')).err).toBe('')
  })

  it('exports: HTML and Markdown scrubbed, JSON lines as they are unless told', async () => {
    const path = store('x', 'my key is sk-abcdefghijklmnop1234')
    const html = await sessions('export', 'x', '--html')
    expect(html.out).toMatch(/^<!doctype html>/)
    expect(html.out).toContain('my key is [redacted]')
    expect((await sessions('export', 'x')).out).toContain('my key is [redacted]')
    expect((await sessions('export', 'x', '--md', '--no-scrub')).out).toContain('sk-abcdefghijklmnop1234')
    expect((await sessions('export', 'x', '--format', 'jsonl')).out).toBe(readFileSync(path, 'utf8'))
    expect((await sessions('export', 'x', '--jsonl', '--scrub')).out).not.toContain('sk-abc')
    const file = join(home, 'out.html')
    expect((await sessions('export', 'x', '--html', '-o', file, '--json')).json()).toMatchObject({
      scrubbed: true,
      output: file,
    })
    expect(readFileSync(file, 'utf8')).toBe(html.out)
    await expect(sessions('export', 'x', '--html', '--md')).rejects.toThrow('one format at a time')
    await expect(sessions('export', 'x', '--format', 'pdf')).rejects.toThrow('--format is one of md, html, jsonl')
  })

  it('forks and renames', async () => {
    const path = store('x', 'hello')
    const before = readFileSync(path, 'utf8')
    const child = (await sessions('fork', 'x', '--id', 'y', '--at', '5', '--json')).json()
    expect(child).toMatchObject({ id: 'y', parent: 'x', seed_length: 6 })
    expect(readFileSync(path, 'utf8')).toBe(before)
    await expect(sessions('fork', 'x', '--at', '3')).rejects.toThrow('ends inside open turn 1')
    expect((await sessions('rename', 'y', 'a', 'better', 'name')).code).toBe(0)
    expect((await sessions('list', '--json')).json()).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: 'y', title: 'a better name', parent: 'x' })]),
    )
    expect((await sessions('verify')).code).toBe(0)
  })

  it('prunes by age and by number, and first says what it would do', async () => {
    for (const id of ['a', 'b', 'c']) store(id, id)
    await expect(sessions('prune')).rejects.toThrow('needs --older-than <age>, --keep <n>, or both')
    expect((await sessions('prune', '--older-than', '1d', '--json')).json().pruned).toEqual([])
    expect((await sessions('prune', '--keep', '1', '--dry-run', '--json')).json().pruned.length).toBe(2)
    expect((await sessions('list', '--json')).json().length).toBe(3)
    expect((await sessions('prune', '--keep', '1')).code).toBe(0)
    expect((await sessions('list', '--json')).json().length).toBe(1)
  })

  it('verifies and repairs, with a backup', async () => {
    const path = store('x', 'hello')
    const damaged = readFileSync(path, 'utf8').replace('"type":"step/start"', '"type":"step/st')
    writeFileSync(path, damaged)
    const found = await sessions('verify', 'x')
    expect(found.code).toBe(1)
    expect(found.out).toContain(
      'x: damaged\n  stored session "x" failed validation: corrupt session log: unparsable committed event at line 3',
    )
    const done = await sessions('repair', 'x')
    expect(done.code).toBe(0)
    const backup = /kept at (.*)\n/.exec(done.out)?.[1] ?? ''
    expect(readFileSync(backup, 'utf8')).toBe(damaged)
    expect((await sessions('verify', 'x')).code).toBe(0)
    expect((await sessions('repair', 'x')).out).toBe('x: nothing to repair\n')
  })

  it('knows its words', async () => {
    expect((await sessions()).code).toBe(2)
    expect((await sessions('--help')).out).toContain('Usage: dsh sessions <command>')
    expect((await sessions('show', '--help')).code).toBe(0)
    await expect(sessions('frobnicate')).rejects.toThrow('got "frobnicate"')
    await expect(sessions('toString')).rejects.toThrow('got "toString"')
    await expect(sessions('list', '--wat')).rejects.toThrow("unknown option '--wat'")
    await expect(sessions('show')).rejects.toThrow('needs the id of a session')
  })
})
