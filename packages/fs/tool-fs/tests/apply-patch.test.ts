import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import { applyChunks, fsError, fsErrors } from '@dsh/fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parsePatch } from '../src/patch/parse.ts'
import { type Bench, bench } from './bench.ts'

let table: Bench
beforeEach(async () => {
  table = await bench({ toolFs: { applyPatch: true } })
})
afterEach(() => table.dispose())

const at = (name: string) => join(table.root, name)
const put = (name: string, content: string) => nodeFs.writeFileSync(at(name), content)
const text = (name: string) => nodeFs.readFileSync(at(name), 'utf8')
const read = (...names: string[]) => Promise.all(names.map((file_path) => table.call('read', { file_path })))
const body = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const patch = (...lines: string[]) => table.text('apply_patch', { input: body(...lines) })
const call = (...lines: string[]) => table.call('apply_patch', { input: body(...lines) })

describe('a patch text', () => {
  it('is read with its line numbers', () => {
    const input = `<<'EOF'\n${body(
      '*** Add File: a b.txt',
      '+one',
      '+',
      '',
      '*** Update File: f',
      '*** Move to: g',
      '@@ class A',
      '@@ def f',
      ' keep',
      '-old',
      '+new',
      '',
      '*** End of File',
      '*** Delete File: h',
    )}\nEOF`
    expect(parsePatch(input)).toEqual([
      { kind: 'add', line: 2, path: 'a b.txt', content: 'one\n\n' },
      {
        kind: 'move',
        line: 6,
        path: 'f',
        destination: 'g',
        chunks: [
          {
            contexts: ['class A', 'def f'],
            endOfFile: true,
            lines: [
              { kind: 'context', text: 'keep' },
              { kind: 'remove', text: 'old' },
              { kind: 'add', text: 'new' },
              { kind: 'context', text: '' },
            ],
          },
        ],
      },
      { kind: 'delete', line: 15, path: 'h' },
    ])
  })

  it.each([
    ['hello', "invalid patch: The first line of the patch must be '*** Begin Patch'"],
    ['', "invalid patch: The last line of the patch must be '*** End Patch'"],
    ['*** Begin Patch', "invalid patch: The last line of the patch must be '*** End Patch'"],
    [body('*** Add File:'), 'invalid hunk at line 2, missing file path'],
    [body('*** Update File: f'), "invalid hunk at line 2, Update file hunk for path 'f' is empty"],
    [body('*** Update File: f', '@@'), 'invalid hunk at line 4, Update hunk does not contain any lines'],
    [
      body('*** Update File: f', '@@', '*** Delete File: g'),
      "invalid hunk at line 4, Unexpected line found in update hunk: '*** Delete File: g'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)",
    ],
    [
      body('*** Update File: f', '-a', 'nope'),
      "invalid hunk at line 4, Expected update hunk to start with a @@ context marker, got: 'nope'",
    ],
  ])('is refused: %j', async (input, message) => {
    const result = await table.call('apply_patch', { input })
    expect(result).toMatchObject({ isError: true, error: { name: 'PatchToolError', code: 'PATCH_SYNTAX' } })
    expect(result.content).toEqual([{ type: 'text', text: `Error: ${message}` }])
  })
})

describe('the place of a chunk', () => {
  const add = (...lines: string[]) => lines.map((line) => ({ kind: 'add' as const, text: line }))
  const chunk = (
    contexts: string[],
    lines: { kind: 'add' | 'remove' | 'context'; text: string }[],
    endOfFile = false,
  ) => [{ contexts, lines, endOfFile }]

  it('of additions alone is behind the context that names it, else the end', () => {
    expect(applyChunks('a\nb\nc\n', chunk(['a'], add('x')), 'f')).toBe('a\nx\nb\nc\n')
    expect(applyChunks('a\nb\n', chunk([], add('x', 'y')), 'f')).toBe('a\nb\nx\ny\n')
    expect(applyChunks('', chunk([], add('x')), 'f')).toBe('x\n')
  })

  it('is searched behind the chunk before, and at the end where the patch says so', () => {
    const swap = { contexts: [], endOfFile: false, lines: [{ kind: 'remove' as const, text: 'x' }, ...add('y')] }
    expect(applyChunks('x\nx\nx\n', [swap, swap], 'f')).toBe('y\ny\nx\n')
    expect(applyChunks('x\nx\nx\n', [{ ...swap, endOfFile: true }], 'f')).toBe('x\nx\ny\n')
    expect(() => applyChunks('x\n', [swap, swap], 'f')).toThrow('Failed to find expected lines in f:\nx')
  })

  it('gives every added line the ending of the lines beside it, and the last one an end', () => {
    const lines = [{ kind: 'context' as const, text: 'a' }, { kind: 'remove' as const, text: 'b' }, ...add('B', 'C')]
    expect(applyChunks('a\r\nb\nc\r\n', chunk([], lines), 'f')).toBe('a\r\nB\nC\nc\r\n')
    expect(applyChunks('a\r\nb', chunk([], lines), 'f')).toBe('a\r\nB\r\nC\r\n')
  })
})

describe('a patch', () => {
  it('changes files in order and tells which', async () => {
    put('a.txt', 'one\ntwo\n')
    put('old.txt', 'bye\n')
    put('m.txt', 'x\n')
    await read('a.txt', 'old.txt', 'm.txt')
    const result = await call(
      '*** Delete File: old.txt',
      '*** Update File: a.txt',
      '@@',
      '-two',
      '+2',
      '*** Add File: n/n.txt',
      '+hi',
      '*** Update File: m.txt',
      '*** Move to: d/moved.txt',
      '@@',
      '-x',
      '+y',
    )
    expect(result.content).toEqual([
      {
        type: 'text',
        text: 'Success. Updated the following files:\nA n/n.txt\nM a.txt\nM d/moved.txt\nD old.txt',
      },
    ])
    expect([text('a.txt'), text('n/n.txt'), text('d/moved.txt')]).toEqual(['one\n2\n', 'hi\n', 'y\n'])
    expect(result.meta).toMatchObject({
      stopped: false,
      diffs: [
        { path: at('old.txt'), oldText: 'bye\n', newText: '' },
        { path: at('a.txt'), oldText: 'one\ntwo', newText: 'one\n2' },
        { path: at('m.txt'), oldText: 'x\n', newText: '' },
      ],
    })
    // What was written is observed, what is gone is seen as gone.
    expect(await table.text('edit', { file_path: 'd/moved.txt', old_string: 'y', new_string: 'z' })).toContain(
      'success',
    )
    expect(await table.text('edit', { file_path: 'old.txt', old_string: 'y', new_string: 'z' })).toBe(
      `Error: cannot edit "${at('old.txt')}": not found`,
    )
  })

  it('with any problem changes nothing and lists every problem', async () => {
    put('a.txt', 'a\n')
    put('b.txt', 'b\n')
    await read('a.txt')
    const refused = await call(
      '*** Update File: a.txt',
      '@@',
      '-a',
      '+A',
      '*** Update File: b.txt',
      '@@',
      '-b',
      '+B',
      '*** Delete File: gone.txt',
    )
    expect(refused).toMatchObject({ isError: true, error: { name: 'FsError', code: 'FS_NOT_OBSERVED' } })
    expect(refused.content).toEqual([
      {
        type: 'text',
        text: [
          'Error: Patch rejected before any change (2 problems):',
          '- operation 2 (update b.txt, patch line 6): cannot modify "b.txt": file has not been read — read the file, then retry',
          '- operation 3 (delete gone.txt, patch line 10): cannot delete "gone.txt": not found',
        ].join('\n'),
      },
    ])
    expect([text('a.txt'), text('b.txt')]).toEqual(['a\n', 'b\n'])
  })

  it('counts a touched file with the same bytes as read', async () => {
    put('a.txt', 'a\n')
    await read('a.txt')
    nodeFs.utimesSync(at('a.txt'), 1, 1)
    expect(await patch('*** Update File: a.txt', '@@', '-a', '+A')).toContain('M a.txt')
  })

  it('does not remove through a link', async () => {
    put('t.txt', 't\n')
    nodeFs.symlinkSync('t.txt', at('ln'))
    await read('ln')
    const result = await call('*** Delete File: ln')
    expect(result).toMatchObject({ error: { name: 'PatchToolError', code: 'PATCH_SYMLINK_SOURCE' } })
    expect(await patch('*** Update File: ln', '@@', '-t', '+T')).toContain('M ln')
    expect(text('t.txt')).toBe('T\n')
  })

  it('that stops says what was done, what failed and what is left', async () => {
    put('a.txt', 'a\n')
    put('b.txt', 'b\n')
    await read('a.txt', 'b.txt')
    const { fs } = table.ctx
    const real = fs.moveFile
    fs.moveFile = async (...args: Parameters<typeof real>) => {
      const done = await real.apply(fs, args)
      nodeFs.writeFileSync(at('b.txt'), 'b\n')
      const removalError = fsError(fsErrors.permissionDenied, 'cannot delete "b.txt": permission denied')
      return { ...done, sourceRemoved: false, removalError }
    }
    const result = await call(
      '*** Update File: a.txt',
      '@@',
      '-a',
      '+A',
      '*** Update File: b.txt',
      '*** Move to: c.txt',
      '@@',
      '-b',
      '+B',
      '*** Add File: d.txt',
    )
    fs.moveFile = real
    expect(result.isError).toBe(false)
    expect(result.content).toEqual([
      {
        type: 'text',
        text: [
          'Patch stopped after 1 of 3 operations.',
          'Completed:',
          'M a.txt',
          'Failed:',
          '- operation 2 (move b.txt -> c.txt, patch line 6): source removal denied',
          '  destination c.txt was written; source b.txt remains',
          'Not executed:',
          '- operation 3 (add d.txt)',
        ].join('\n'),
      },
    ])
    expect(result.meta).toMatchObject({ stopped: true })
  })

  it('does not claim to know what a failing backend did', async () => {
    put('a.txt', 'a\n')
    await read('a.txt')
    const { fs } = table.ctx
    const real = fs.patchText
    const failing = (alsoWrites: boolean) => async () => {
      if (alsoWrites) nodeFs.writeFileSync(at('a.txt'), 'half')
      throw fsError(fsErrors.io, `cannot update "${at('a.txt')}": input/output error`)
    }
    fs.patchText = failing(false)
    expect(await patch('*** Update File: a.txt', '@@', '-a', '+A')).toBe(
      'Patch stopped after 0 of 1 operations.\nFailed:\n- operation 1 (update a.txt, patch line 2): cannot update "a.txt": input/output error',
    )
    fs.patchText = failing(true)
    expect(await patch('*** Update File: a.txt', '@@', '-a', '+A')).toBe(
      'Patch stopped after 0 of 1 operations.\nOutcome unknown:\n- operation 1 (update a.txt, patch line 2): cannot update "a.txt": input/output error — re-read the file, then retry',
    )
    fs.patchText = real
  })
})
