import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import type { SubprocessService } from '@dsh/subprocess'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, bench, textOf } from '../../tool-fs/tests/bench.ts'
import { sortFaults } from '../src/faults.ts'
import { globPage, renderGlob } from '../src/glob-page.ts'
import { matchedFrom } from '../src/glob-pattern.ts'
import { readMatches } from '../src/grep-records.ts'
import { ripgrepPath } from '../src/ripgrep.ts'

let table: Bench
const open = async (config: Record<string, unknown> = {}, processes?: unknown, policy?: Record<string, unknown>) => {
  await table?.dispose()
  table = await bench({
    rows: [
      processes === undefined
        ? { module: await import('@dsh/subprocess-local') }
        : {
            id: 'subprocess',
            module: { name: 'fake', apply: async (ctx: any) => ctx.provide('subprocess', processes) },
          },
      { module: await import('@dsh/spill-local') },
      { module: await import('../src/index.ts'), config: { sampleOverCapGlobResults: false, ...config } },
    ],
    ...(policy === undefined ? {} : { policyConfig: policy }),
  })
}
beforeEach(() => open())
afterEach(() => table.dispose())

const put = (name: string, content = '', time?: number) => {
  const path = join(table.root, name)
  nodeFs.mkdirSync(join(path, '..'), { recursive: true })
  nodeFs.writeFileSync(path, content)
  if (time !== undefined) nodeFs.utimesSync(path, time, time)
}
const glob = (args: unknown) => table.text('glob', args)
const grep = (args: unknown) => table.text('grep', args)

describe('the packaged ripgrep', () => {
  it('is there', () => expect(nodeFs.statSync(ripgrepPath()).mode & 0o111).not.toBe(0))
})

describe('what the model sees of search', () => {
  it('has descriptions of the exact length and guidance that follows visibility', async () => {
    const length = (name: string) => table.ctx.tools.get(name)?.description.length
    expect([length('glob'), length('grep')]).toEqual([407, 269])
    expect(table.ctx.systemPrompt.assemble(table.agent, {})).toContain('Use the grep tool')
    await open({ sampleOverCapGlobResults: true })
    expect(length('glob')).toBe(411)
  })

  it('runs both beside other calls', () => {
    for (const name of ['glob', 'grep'])
      expect(table.ctx.tools.executionMode({ name, arguments: '{"pattern":"x"}', agent: table.agent })).toBe('parallel')
  })
})

describe('glob', () => {
  it('lists oldest first, and equal times by name', async () => {
    for (const [name, time] of [
      ['z.ts', 5],
      ['b.ts', 9],
      ['a.ts', 9],
      ['c.ts', 9],
    ] as const)
      put(name, '', time)
    expect(await glob({ pattern: '*.ts' })).toBe('z.ts\na.ts\nb.ts\nc.ts')
  })

  it('takes `./`, absolute patterns and patterns below the path', async () => {
    put('src/a.ts')
    put('pkg/src/b.ts')
    expect(await glob({ pattern: './src/*.ts' })).toBe('src/a.ts')
    expect(await glob({ pattern: `${table.root}/src/*.ts` })).toBe('src/a.ts')
    expect(await glob({ pattern: 'src/*.ts', path: 'pkg' })).toBe('pkg/src/b.ts')
    expect(await glob({ pattern: '/src/*.ts', path: join(table.root, 'pkg') })).toBe('pkg/src/b.ts')
    expect(matchedFrom('**/x', '/w')).toBe('**/x')
  })

  it('shows odd names on one row each', async () => {
    put('a\nb.ts')
    nodeFs.writeFileSync(Buffer.concat([Buffer.from(`${table.root}/bad`), Buffer.from([0xff]), Buffer.from('.ts')]), '')
    expect((await glob({ pattern: '*.ts' })).split('\n').sort()).toEqual(['a\\nb.ts', 'bad\uFFFD.ts'])
  })

  it('samples across top-level entries where that is configured', () => {
    const paths = ['a/1', 'a/2', 'a/3', 'b/1', 'c']
    const page = globPage(paths, 4, true, '.')
    expect(page).toEqual({ shown: ['a/1', 'a/2', 'b/1', 'c'], total: 5, sampled: { shown: 3, total: 3 } })
    expect(renderGlob(page, { locator: '/s', hint: 'H' }, [])).toBe(
      'a/1\na/2\nb/1\nc\n\n(Showing 4 of 5 paths, sampled across 3 of the 3 top-level entries this pattern matched instead of taken in modification-time order. Full sorted result stored at: /s. H)',
    )
    expect(globPage(['a', 'b', 'c'], 2, true, '.').sampled).toBeUndefined()
    expect(renderGlob(globPage(paths, 1, true, '.'), undefined, [])).toContain(
      'Narrow path to inspect a specific subtree. The complete result could not be saved; narrow pattern or path to see more.)',
    )
  })
})

describe('grep', () => {
  it('names what no program can be given, and so does glob', async () => {
    const long = 'a'.repeat(131_072)
    const odd: [string, object, string][] = [
      ['grep', { pattern: 'a\0' }, 'Error: grep arguments cannot contain a NUL byte'],
      ['grep', { pattern: 'a', path: 'x\0' }, 'Error: grep arguments cannot contain a NUL byte'],
      ['glob', { pattern: 'a\0' }, 'Error: glob arguments cannot contain a NUL byte'],
      ['grep', { pattern: long }, 'Error: grep takes no argument longer than 131071 bytes'],
      ['glob', { pattern: long }, 'Error: glob takes no argument longer than 131071 bytes'],
    ]
    for (const [name, args, text] of odd) expect(await table.text(name, args)).toBe(text)
  })

  it('keeps a wide page below the size at which results are stored again', async () => {
    await open({ grepMaxInlineBytes: 300, grepMaxLineBytes: 50 })
    put('f', `${'needle '.repeat(20)}\n`.repeat(30))
    const text = await grep({ pattern: 'needle' })
    expect(Buffer.byteLength(text)).toBeLessThan(800)
    expect(text).toMatch(/^Found 3 of 30 matches\n\nf\nLine 1: .{50} \(line truncated\)\n/)
    const saved = /stored at: (\S+)\. /.exec(text)?.[1] as string
    expect(nodeFs.readFileSync(saved, 'utf8')).toMatch(/^Found 30 matches\n\nf\nLine 1: /)
    expect(nodeFs.statSync(saved).mode & 0o777).toBe(0o600)
  })

  it('reads records of any shape it may get', () => {
    const match = (data: unknown) => `${JSON.stringify({ type: 'match', data })}\n`
    const good = { path: { text: 'f' }, line_number: 1, lines: { text: 'x\r\n' } }
    expect(readMatches(`{"type":"begin","data":{}}\n${match(good)}`, false)).toEqual([
      { path: 'f', lineNumber: 1, line: 'x' },
    ])
    expect(
      readMatches(match({ ...good, path: { bytes: Buffer.from([0x66, 0xff]).toString('base64') } }), false),
    ).toEqual([{ path: 'f\uFFFD', lineNumber: 1, line: 'x' }])
    for (const [broken, detail] of [
      ['nonsense\n', 'a line is not JSON'],
      ['3\n', 'a record is not an object'],
      ['{"type":"match"}\n', 'a match record has no data'],
      [match({ ...good, path: {} }), 'a match record has no path text'],
      [match({ ...good, line_number: null }), 'a match record has no line number'],
      [match({ ...good, lines: null }), 'a match record has no line content'],
      [match({ ...good, lines: {} }), 'a match record has neither line text nor bytes'],
    ] as const)
      expect(() => readMatches(broken, false)).toThrow(`grep received malformed ripgrep --json output (${detail})`)
    expect(readMatches(`${match(good)}{"type":"mat`, true)).toHaveLength(1)
  })

  it('finds nothing in what the policy hides', async () => {
    put('secret.txt', 'needle\n')
    put('open.txt', 'needle\n')
    await open({}, undefined, { denyRead: ['secret.txt'] })
    put('secret.txt', 'needle\n')
    put('open.txt', 'needle\n')
    nodeFs.symlinkSync('.', join(table.root, 'alias'))
    expect(await grep({ pattern: 'needle' })).toBe('Found 1 match\n\nopen.txt\nLine 1: needle')
    expect(await grep({ pattern: 'needle', path: 'secret.txt' })).toBe('No matches found')
    expect(await grep({ pattern: 'needle', path: 'alias/secret.txt' })).toBe('No matches found')
  })
})

describe('a search that does not go smoothly', () => {
  const settled = (more: object) => ({
    exitCode: 0,
    signal: null,
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    status: '',
    durationMs: 1,
    ...more,
  })
  const stream = (text: string, truncated = false) => ({ text, bytes: Buffer.byteLength(text), truncated })
  const processes = (done: () => Promise<unknown>, spawned: unknown[] = []): SubprocessService =>
    ({
      spawn: async (spec: { argv: string[] }) => {
        spawned.push(spec.argv)
        let stop = () => {}
        const stopped = new Promise<void>((resolve) => {
          stop = resolve
        })
        return {
          pid: 1,
          done: (async () => {
            const outcome = await done()
            if (outcome !== undefined) return outcome
            await stopped
            return settled({ exitCode: null, signal: 'SIGTERM', stdout: stream('a\0b\0half') })
          })(),
          terminate: async () => stop(),
          readDelta: () => ({ stdout: '', stderr: '', dropped: false, spillPaths: [] }),
        }
      },
      resolveExecutable: () => undefined,
      baseEnv: () => ({}),
      scrubbed: () => [],
    }) as unknown as SubprocessService

  it('returns what it found when its time is up', async () => {
    const spawned: string[][] = []
    await open(
      { softDeadlineMs: 60 },
      processes(async () => undefined, spawned),
    )
    expect(await glob({ pattern: '*' })).toBe(
      'a\nb\n\n(search stopped after 0.06 s; there may be more results: narrow pattern or path)',
    )
    // Sorting shows nothing before its end, so the second run does not sort.
    expect(spawned.map((argv) => argv.includes('--sort=modified'))).toEqual([true, false])
  })

  it('stops when the call is cancelled', async () => {
    await open(
      {},
      processes(async () => undefined),
    )
    const controller = new AbortController()
    const call = table.call('grep', { pattern: 'x' }, { signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    const result = await call
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/aborted/)
  })

  it.each([
    [
      settled({ exitCode: null, signal: 'SIGSEGV' }),
      'grep search command was killed by signal SIGSEGV',
      'SEARCH_FAILED',
    ],
    [
      settled({ exitCode: 2, stderr: stream('rg: the literal "\\n" is not allowed in a regex\n') }),
      'grep pattern rejected by ripgrep: rg: the literal "\\n" is not allowed in a regex',
      'SEARCH_INVALID_PATTERN',
    ],
    [settled({ exitCode: 3, stderr: stream('rg: odd\n', true) }), 'grep search failed (exit 3)', undefined],
    [
      settled({ stdout: { text: '', bytes: 30_000_000, truncated: false } }),
      'grep produced 30000000 bytes of raw output, over the 20000000-byte cap; narrow pattern, path, or include and retry',
      'SEARCH_RAW_OUTPUT_OVERFLOW',
    ],
    [
      settled({ stdout: stream('x', true) }),
      'grep produced more raw output than the subprocess seam retained within the 20000000-byte cap; narrow pattern, path, or include and retry',
      'SEARCH_RAW_OUTPUT_OVERFLOW',
    ],
  ])('says what happened: %#', async (outcome, message, code) => {
    await open(
      {},
      processes(async () => outcome),
    )
    const result = await table.call('grep', { pattern: 'x' })
    if (code === undefined) return
    expect(result).toMatchObject({ isError: true, error: { name: 'SearchError', code } })
    expect(textOf(result)).toBe(`Error: ${message}`)
  })

  it('names a program or directory that is not there', async () => {
    await open({}, { ...processes(async () => undefined), spawn: async () => Promise.reject(new Error('ENOENT')) })
    expect(await grep({ pattern: 'x' })).toBe('Error: grep could not start its search command (ripgrep launch failed)')
  })

  it('tells single unreadable entries from a failure', () => {
    const stderr = [
      'rg: ./a: Permission denied (os error 13)',
      'rg: ./b: Input/output error (os error 5)',
      'rg: dir: IO error for operation on dir: No such file or directory (os error 2)',
      "rg: No files were searched, which means ripgrep probably applied a filter you didn't expect.",
      'Running with --debug will show why files are being skipped.',
    ].join('\n')
    expect(sortFaults(stderr, undefined, false)).toEqual({
      skipped: 3,
      reasons: ['input/output error', 'not found', 'permission denied'],
      fatal: '',
    })
    expect(sortFaults(stderr, 'dir', false).fatal).toContain('rg: dir: IO error')
    expect(sortFaults('half a line\nrg: ./a: Permission denied (os error 13)', undefined, true)).toMatchObject({
      skipped: 1,
      fatal: '',
    })
  })
})
