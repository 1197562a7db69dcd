import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, bench } from '../../tool-fs/tests/bench.ts'
import { withInserted } from '../src/change.ts'

let table: Bench
const open = async (config: Record<string, unknown> = {}) => {
  table = await bench({ rows: [{ module: await import('../src/index.ts'), config }] })
}
beforeEach(() => open())
afterEach(() => table.dispose())

const at = (name: string) => join(table.root, name)
const put = (name: string, content: string) => nodeFs.writeFileSync(at(name), content)
const text = (name: string) => nodeFs.readFileSync(at(name), 'utf8')
const run = (command: string, name: string, more: Record<string, unknown> = {}) =>
  table.text('str_replace_editor', { command, path: name.startsWith('/') ? name : at(name), ...more })
const first = async (...args: Parameters<typeof run>) => (await run(...args)).split('\n')[0]

describe('str_replace_editor', () => {
  it('has its own words, and no escalation fields', () => {
    const schema = table.ctx.tools.schemas().find((one) => one.name === 'str_replace_editor')
    expect(schema?.description).toHaveLength(1119)
    expect(Object.keys((schema?.parameters as { properties?: object } | undefined)?.properties ?? {})).toEqual([
      'command',
      'path',
      'file_text',
      'old_str',
      'new_str',
      'insert_line',
      'view_range',
    ])
  })

  it('numbers lines, the one behind a final newline too', async () => {
    put('f', 'one\ntwo\n')
    expect(await run('view', 'f')).toBe(
      `Here's the content of ${at('f')} with line numbers (which has a total of 3 lines):\n     1  one\n     2  two\n     3  \n`,
    )
    expect(await run('view', 'f', { view_range: [2, -1] })).toContain(
      'with view_range=[2, -1]:\n     2  two\n     3  \n',
    )
  })

  it.each([
    [[1], 'Invalid `view_range`. It should be a list of two integers.'],
    [
      [9, 1],
      'Invalid `view_range`: [9, 1]. Its first element `9` should be within the range of lines of the file: [1, 3]',
    ],
    [
      [1, 4],
      'Invalid `view_range`: [1, 4]. Its second element `4` should be smaller than the number of lines in the file: `3`',
    ],
    [[2, 1], 'Invalid `view_range`: [2, 1]. Its second element `1` should be larger or equal than its first `2`'],
    [[2, -5], 'Invalid `view_range`: [2, -5]. Its second element `-5` should be larger or equal than its first `2`'],
  ])('refuses the range %j', async (view_range, message) => {
    put('f', 'one\ntwo\n')
    expect(await run('view', 'f', { view_range })).toBe(`Error: ${message}`)
  })

  it('clips what is long', async () => {
    await table.dispose()
    await open({ maxOutputChars: 120 })
    put('f', 'x'.repeat(500))
    const shown = await run('view', 'f')
    expect(shown).toMatch(
      /x<response clipped><NOTE>To save on context only part of this file has been shown to you\..*<\/NOTE>$/,
    )
    expect(shown.indexOf('<response clipped>')).toBe(120)
  })

  it('does not follow links out of a listed directory', async () => {
    nodeFs.mkdirSync(at('d'))
    put('d/f', '')
    nodeFs.symlinkSync('/', at('root'))
    nodeFs.symlinkSync('nowhere', at('dangling'))
    expect(await run('view', table.root)).toBe(
      [
        `Here're the files and directories up to 2 levels deep in ${table.root}, excluding hidden items, node_modules, and Python cache directories:`,
        `d\t${table.root}`,
        `d\t${at('d')}`,
        `f\t${at('d/f')}`,
        `?\t${at('dangling')}`,
        `d\t${at('root')}`,
        '\n',
      ].join('\n'),
    )
  })

  it('creates new files only', async () => {
    expect(await run('create', 'n/f', { file_text: 'x' })).toBe(`New file created successfully at: ${at('n/f')}`)
    expect(await run('create', 'n/f', { file_text: 'y' })).toBe(
      `Error: File already exists at: ${at('n/f')}. Cannot overwrite files using command \`create\`.`,
    )
    nodeFs.symlinkSync('nowhere', at('dl'))
    expect(await first('create', 'dl', { file_text: 'y' })).toContain('File already exists at')
  })

  it('replaces one literal occurrence and leaves every other byte', async () => {
    put('f', '\uFEFFa\r\nb\r\nc\n')
    await run('view', 'f')
    expect(await run('str_replace', 'f', { old_str: 'b', new_str: 'B$&' })).toBe(
      `The file ${at('f')} has been edited successfully.`,
    )
    expect(text('f')).toBe('\uFEFFa\r\nB$&\r\nc\n')
    await run('str_replace', 'f', { old_str: 'B$&\n' })
    expect(text('f')).toBe('\uFEFFa\r\nc\n')
    expect(await first('str_replace', 'f', { old_str: 'zz', new_str: '' })).toBe(
      `Error: No replacement was performed, old_str \`zz\` did not appear verbatim in ${at('f')}.`,
    )
  })

  it('says stale before it says anything about a match', async () => {
    put('f', 'a\n')
    await run('view', 'f')
    put('f', 'other\n')
    expect(await run('str_replace', 'f', { old_str: 'zz', new_str: '' })).toBe(
      `Error: cannot edit "${at('f')}": file changed since it was read`,
    )
    expect(await run('insert', 'f', { insert_line: 0, new_str: 'x' })).toBe(
      `Error: cannot write "${at('f')}": file changed since it was read`,
    )
  })

  it('inserts behind a line', async () => {
    put('f', '\uFEFFone\r\ntwo\r\n')
    await run('view', 'f')
    await run('insert', 'f', { insert_line: 1, new_str: 'a\nb' })
    expect(text('f')).toBe('\uFEFFone\r\na\r\nb\r\ntwo\r\n')
    expect(await run('insert', 'f', { insert_line: 9, new_str: 'x' })).toBe(
      'Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 5]',
    )
  })

  it('takes null for a parameter that its command does not use as left out', async () => {
    put('f', 'a\n')
    const unused = { file_text: null, old_str: null, insert_line: null, view_range: null }
    expect(await run('view', 'f', { ...unused, new_str: null })).toContain('     1  a')
    expect(await run('create', 'n', { ...unused, file_text: null })).toBe(
      'Error: Parameter `file_text` is required for command: create',
    )
    expect(await run('str_replace', 'f', { old_str: 'a', new_str: null })).toBe(
      'Error: invalid arguments: "new_str" must be a string',
    )
    expect(text('f')).toBe('a\n')
  })

  it('says which files it cannot change', async () => {
    nodeFs.mkdirSync(at('d'))
    const missing = `Error: The path ${at('gone')} does not exist. Please provide a valid path.`
    expect(await run('view', 'gone')).toBe(missing)
    await run('view', 'd')
    expect(await first('str_replace', 'd', { old_str: 'a', new_str: 'b' })).toBe(
      `Error: edit requires reading "${at('d')}" first`,
    )
    expect(await run('view', '/dev/null')).toBe('Error: cannot view "/dev/null": not a regular file or directory')
    expect(await run('create', join(table.home, 'x'), { file_text: '' })).toBe(
      'Error: [sandbox: file access denied under workspace-write mode]',
    )
  })
})

describe('inserting', () => {
  it.each([
    ['', 0, 'x', 'x\n'],
    ['', 1, 'x', '\nx'],
    ['one\n', 2, 'three', 'one\n\nthree'],
    ['one\n', 1, 'two', 'one\ntwo\n'],
    ['a\r\nb\r\n', 0, 'x\ny', 'x\r\ny\r\na\r\nb\r\n'],
    ['a\r\nb', 2, 'c', 'a\r\nb\r\nc'],
  ])('into %j behind %i: %j', (before, line, added, after) => expect(withInserted(before, line, added)).toBe(after))
})
