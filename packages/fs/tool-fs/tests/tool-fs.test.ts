import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, bench } from './bench.ts'

let table: Bench
const open = async (options: Parameters<typeof bench>[0] = {}) => {
  await table?.dispose()
  table = await bench(options)
}
beforeEach(async () => {
  table = await bench()
})
afterEach(() => table.dispose())

const at = (name: string) => join(table.root, name)
const put = (name: string, content: string | Uint8Array) => nodeFs.writeFileSync(at(name), content)
const text = (name: string) => nodeFs.readFileSync(at(name), 'utf8')
const prompt = (agent = table.agent) => table.ctx.systemPrompt.assemble(agent, {})
const notRead = (name: string) =>
  `Error: cannot modify "${at(name)}": file has not been read — read the file, then retry`

describe('what the model sees of the file tools', () => {
  const readText =
    'Use the read tool — not shell commands like cat — to inspect text files. Use offset and limit to continue reading large files.'
  const writeText =
    'Read an existing file before overwriting it with write (the default fs-observation-policy requires it)'
  const editText =
    'Read a file before editing it (the default fs-observation-policy requires it), unless you just created or edited it in this session.'

  it('has descriptions of the exact length', () => {
    const lengths = table.ctx.tools.schemas().map((schema) => [schema.name, schema.description.length])
    expect(lengths).toEqual([
      ['edit', 59],
      ['read', 56],
      ['write', 42],
    ])
  })

  it('has its guidance only while its tool is visible, the edit clause only while edit is', async () => {
    expect(prompt()).toContain([readText, `${writeText} and prefer edit for targeted changes.`, editText].join('\n\n'))
    await open({ toolFs: { edit: false, read: false } })
    expect(prompt()).not.toContain(readText)
    expect(prompt()).toContain(`${writeText}.`)
    expect(prompt()).not.toContain(editText)
    await open({ toolFs: { read: false, write: false, edit: false, readImage: false } })
    expect(table.ctx.tools.schemas()).toEqual([])
  })

  it('names the configured limit, and the escalation fields only where the backend confines', async () => {
    const schema = (name: string) => table.ctx.tools.schemas().find((one) => one.name === name)?.parameters as any
    expect(Object.keys(schema('write').properties)).toEqual([
      'file_path',
      'content',
      'sandbox_permissions',
      'justification',
    ])
    await open({ fs: [{ module: await import('@dsh/fs-local') }], toolFs: { readLimit: 7, applyPatch: true } })
    expect(schema('read').properties.limit.description).toContain('7')
    expect(Object.keys(schema('write').properties)).toEqual(['file_path', 'content'])
    expect(Object.keys(schema('apply_patch').properties)).toEqual(['input'])
  })

  const reference = fileURLToPath(new URL('../../../../../shared/reference', import.meta.url))
  it.skipIf(!nodeFs.existsSync(reference))('says what the reference says', async () => {
    await open({ toolFs: { applyPatch: true } })
    const [survey, readme] = ['000', '002'].map((number) => {
      const file = nodeFs.readdirSync(reference).find((name) => name.startsWith(number)) as string
      return nodeFs.readFileSync(join(reference, file), 'utf8').split('\n')
    }) as [string[], string[]]
    for (const { name, description } of table.ctx.tools.schemas())
      if (name !== 'apply_patch') expect(survey, name).toContain(description)
    const sections = prompt()
      .split('\n\n')
      .filter((section) => section.includes('fs-observation-policy'))
    expect(sections).toHaveLength(3)
    for (const section of [...sections, readText]) expect(readme).toContain(section)
  })

  it('refuses a configuration that means nothing', async () => {
    await expect(bench({ toolFs: { readLimit: 0, read: false } })).rejects.toThrow(
      /tool-fs: readLimit must be a positive integer/,
    )
    await expect(bench({ toolFs: { unknown: 1 } })).rejects.toThrow()
  })
})

describe('read before change', () => {
  it('refuses to replace or edit what was not read, and allows it afterwards', async () => {
    put('f', 'old\n')
    const write = () => table.call('write', { file_path: 'f', content: 'new\n' })
    const refused = await write()
    expect(refused).toMatchObject({ isError: true, error: { name: 'FsError', code: 'FS_NOT_OBSERVED' } })
    expect(refused.content[0]).toEqual({ type: 'text', text: notRead('f') })
    expect(await table.text('edit', { file_path: 'f', old_string: 'old', new_string: 'x' })).toBe(notRead('f'))
    await table.call('read', { file_path: 'f' })
    expect((await write()).isError).toBe(false)
    expect(text('f')).toBe('new\n')
  })

  it('keeps what one session saw from another, and forgets it with the session', async () => {
    put('f', 'a\n')
    await table.call('read', { file_path: 'f' })
    // A resumed session is another object in another process.
    const resumed = table.newAgent()
    expect(await table.text('edit', { file_path: 'f', old_string: 'a', new_string: 'b' }, { agent: resumed })).toBe(
      notRead('f'),
    )
    expect(await table.text('edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toContain('successfully')
  })

  it('observes nothing when another row reads through the service', async () => {
    put('f', 'a\n')
    await table.ctx.fs.readText(await table.ctx.fs.resolve(at('f')))
    expect(await table.text('write', { file_path: 'f', content: 'x' })).toBe(notRead('f'))
  })

  it('does without the policy: then changes are unconditional, and still atomic', async () => {
    await open({ policy: false })
    put('f', 'a\n')
    expect(await table.text('write', { file_path: 'f', content: 'b\n' })).toContain('Updated file')
    expect(await table.text('edit', { file_path: 'f', old_string: 'b', new_string: 'c' })).toContain('successfully')
    expect(text('f')).toBe('c\n')
  })

  it('lets write create and then edit its own file with read off', async () => {
    await open({ toolFs: { read: false } })
    put('theirs', 't')
    await table.call('write', { file_path: 'mine', content: 'a' })
    expect(await table.text('edit', { file_path: 'mine', old_string: 'a', new_string: 'b' })).toContain('successfully')
    expect(await table.text('write', { file_path: 'theirs', content: 'x' })).toBe(notRead('theirs'))
  })
})

describe('observations', () => {
  it('end when the row does, and the guard with them', async () => {
    const policy = await import('@dsh/fs-observation-policy')
    await open({ policy: false })
    const fiber = table.ctx.plugin(policy)
    await fiber
    put('f', 'a')
    await table.call('read', { file_path: 'f' })
    await fiber.dispose()
    await table.ctx.plugin(policy)
    expect(await table.text('edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toBe(notRead('f'))
  })

  it('die with the policy', async () => {
    const { Observations } = await import('@dsh/fs-observation-policy/observations')
    const [owner, target] = [{}, { targetKey: '/f', displayPath: '/f' }]
    const first = new Observations()
    first.record(owner, target, { kind: 'present', version: 'v' })
    expect(first.writeIntent(owner, target)).toEqual({ kind: 'replaceIfVersion', version: 'v' })
    expect(new Observations().writeIntent(owner, target)).toEqual({ kind: 'createIfAbsent' })
  })
})

describe('the session directory', () => {
  it('is where relative paths begin, also after it moved, while the permission root stays', async () => {
    nodeFs.mkdirSync(at('sub'))
    put('sub/f', 'inner\n')
    put('f', 'outer\n')
    Object.assign(table.agent.session, { cwd: at('sub') })
    expect(await table.text('read', { file_path: 'f' })).toContain('1: inner')
    expect(await table.text('write', { file_path: '../n', content: 'x' })).toContain(`<path>${at('n')}</path>`)
    Object.assign(table.agent.session, { cwd: join(table.root, '..') })
    expect(await table.text('write', { file_path: 'outside', content: 'x' })).toContain('[sandbox: file access denied')
  })
})

describe('hints', () => {
  const second = async (name: string, args: unknown) => (await table.text(name, args)).split('\n').slice(1).join('\n')

  it('follow the exact first line', async () => {
    put('notes.txt', 'a\nb\n  c\na\n')
    nodeFs.mkdirSync(at('dir'))
    await table.call('read', { file_path: 'notes.txt' })
    expect(await second('read', { file_path: 'note.txt' })).toBe(`Similar: ${at('notes.txt')}`)
    nodeFs.symlinkSync('nowhere', at('gone'))
    expect(await second('read', { file_path: 'gone' })).toBe('')
    expect(await second('read', { file_path: '~/x' })).toMatch(/^Hint: paths are taken literally; use \//)
    expect(await second('read', { file_path: 'file:///etc/hosts' })).toBe(
      'Hint: paths are taken literally; use /etc/hosts',
    )
    expect(await second('read', { file_path: 'dir' })).toContain('this is a directory')
    expect(await second('edit', { file_path: 'notes.txt', old_string: 'a', new_string: 'x' })).toBe(
      'Matches start at lines 1, 4.',
    )
    expect(await second('edit', { file_path: 'notes.txt', old_string: 'c  ', new_string: 'x' })).toBe(
      'Hint: line 3 matches except for leading whitespace.',
    )
    put('u16', Buffer.from('\uFEFFhi', 'utf16le'))
    expect(await second('read', { file_path: 'u16' })).toContain('iconv -f UTF-16')
    put('p', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]))
    expect(await second('read', { file_path: 'p' })).toBe('Hint: this is a PNG image.')
  })

  it('can be switched off', async () => {
    await open({ toolFs: { hints: false } })
    put('notes.txt', 'a\na\n')
    await table.call('read', { file_path: 'notes.txt' })
    expect(await second('read', { file_path: 'note.txt' })).toBe('')
    expect(await second('edit', { file_path: 'notes.txt', old_string: 'a', new_string: 'x' })).toBe('')
  })

  it('tell of names that keep the old content', async () => {
    put('f', 'a')
    nodeFs.linkSync(at('f'), at('g'))
    await table.call('read', { file_path: 'f' })
    expect(await second('edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toBe(
      'Note: one other hard link to this file keeps the old content.',
    )
    expect([text('f'), text('g')]).toEqual(['b', 'a'])
  })
})

describe('diffs', () => {
  it('are facts for surfaces and never for the model', async () => {
    put('f', Array.from({ length: 30 }, (_, line) => `line ${line + 1}`).join('\n'))
    await table.call('read', { file_path: 'f' })
    await table.call('edit', { file_path: 'f', old_string: 'line 2\n', new_string: '2\n' })
    const result = await table.call('edit', { file_path: 'f', old_string: 'line 30', new_string: 'thirty' })
    expect(result.meta).toEqual({
      path: at('f'),
      diffs: [
        {
          path: 'f',
          oldText: 'line 27\nline 28\nline 29\nline 30',
          newText: 'line 27\nline 28\nline 29\nthirty',
          oldStart: 27,
          newStart: 27,
        },
      ],
    })
    const created = await table.call('write', { file_path: 'n', content: 'x' })
    expect(created.meta).toEqual({ path: at('n'), diffs: [] })
    const read = await table.call('read', { file_path: 'n' })
    expect(read.meta).toMatchObject({ path: at('n'), totalLines: 1 })
  })
})

describe('many at once', () => {
  it('reads overlap; ten edits of one file at one version have one winner', async () => {
    put('f', 'a')
    await table.call('read', { file_path: 'f' })
    const { ctx } = table
    const mode = (name: string) => ctx.tools.executionMode({ name, arguments: '{"file_path":"f"}', agent: table.agent })
    expect([mode('read'), mode('write'), mode('edit')]).toEqual(['parallel', 'exclusive', 'exclusive'])
    const target = await ctx.fs.resolve(at('f'))
    const version = (await ctx.fs.stat(target))?.version as string
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        ctx.fs.editText(target, { oldString: 'a', newString: `b${index}`, replaceAll: false }, { version }),
      ),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  })
})
