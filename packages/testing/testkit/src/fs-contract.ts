// More than 400 lines in one file: the contract is one list, which every provider runs and a reader goes through once.
import { randomBytes } from 'node:crypto'
import * as nodeFs from 'node:fs'
import { join } from 'node:path'
import type { FsService, FsTarget } from '@dsh/fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

export interface FsUnderTest {
  readonly fs: FsService
  /** A canonical, empty, writable directory of the host that the backend may change. */
  readonly root: string
  dispose(): Promise<void> | void
}

/** What every provider of `ctx.fs` over the host's files must do. `make` runs once per test. */
export function fsContract(label: string, make: () => Promise<FsUnderTest> | FsUnderTest): void {
  describe(`${label} keeps the filesystem contract`, () => {
    let under: FsUnderTest
    let fs: FsService
    beforeEach(async () => {
      under = await make()
      fs = under.fs
    })
    afterEach(async () => {
      await under.dispose()
    })

    const at = (name: string) => join(under.root, name)
    const put = (name: string, content: string | Uint8Array) => nodeFs.writeFileSync(at(name), content)
    const bytes = (name: string) => nodeFs.readFileSync(at(name))
    const text = (name: string) => bytes(name).toString('utf8')
    const target = (name: string): Promise<FsTarget> => fs.resolve(name, { cwd: under.root })
    const versionOf = async (name: string) => (await fs.stat(await target(name)))?.version as string
    const leftovers = () => nodeFs.readdirSync(under.root).filter((name) => name.includes('.tmpdir'))
    const aborted = () => AbortSignal.abort(new Error('stop'))

    describe('names', () => {
      it('gives one file one key under any spelling', async () => {
        nodeFs.mkdirSync(at('real'))
        put('real/a.txt', 'x')
        nodeFs.symlinkSync('real', at('link'))
        const direct = await target('real/a.txt')
        for (const spelling of ['link/a.txt', './real//a.txt', at('real/a.txt'), 'link/../real/a.txt'])
          expect((await target(spelling)).targetKey).toBe(direct.targetKey)
        expect(fs.processPath(await target('link/a.txt'))).toBe(at('real/a.txt'))
        expect((await target('link/a.txt')).displayPath).toBe(at('link/a.txt'))
      })

      it('follows `..` physically and collapses it where the component does not exist', async () => {
        nodeFs.mkdirSync(at('real/sub'), { recursive: true })
        nodeFs.symlinkSync('real/sub', at('lk'))
        expect((await target('lk/../t.txt')).targetKey).toBe(at('real/t.txt'))
        expect((await target('missing/../t.txt')).targetKey).toBe(at('t.txt'))
        expect((await target('missing/../t.txt')).displayPath).toBe(at('t.txt'))
        nodeFs.symlinkSync('nowhere', at('real/l'))
        expect(await fs.lstat('lk/../l', { cwd: under.root })).toMatchObject({ type: 'symlink' })
      })

      it('keeps the key of a missing file when its directories appear', async () => {
        const before = await target('a/b/c.txt')
        await fs.writeText(before, 'x')
        expect((await target('a/b/c.txt')).targetKey).toBe(before.targetKey)
      })

      it('takes blanks and odd characters literally and refuses what is no path', async () => {
        put(' lead.txt', 'l')
        expect(await fs.readText(await target(' lead.txt'))).toBe('l')
        await expect(target('  ')).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
        await expect(target('a\0b')).rejects.toThrow(/path contains a NUL byte/)
      })

      it('says when a parent is a file', async () => {
        put('f', '')
        await expect(target('f/x')).rejects.toMatchObject({
          code: 'FS_NOT_FOUND',
          message: `cannot resolve "${at('f/x')}": a parent path segment is not a directory`,
        })
      })

      it('knows what lies inside what', async () => {
        const root = await fs.resolve(under.root)
        expect(fs.contains(root, await target('a/b'))).toBe(true)
        expect(fs.contains(root, root)).toBe(true)
        expect(fs.contains(await target('a'), await target('ab'))).toBe(false)
      })
    })

    describe('looking', () => {
      it('tells absent, file, directory and other apart', async () => {
        put('f', 'abc')
        nodeFs.mkdirSync(at('d'))
        nodeFs.symlinkSync('f', at('l'))
        expect(await fs.stat(await target('none'))).toBeUndefined()
        expect(await fs.stat(await target('f'))).toMatchObject({ type: 'file', size: 3 })
        expect(await fs.stat(await target('d'))).toMatchObject({ type: 'directory' })
        expect(await fs.lstat(at('l'))).toMatchObject({ type: 'symlink' })
        expect(await fs.lstat(at('f/x'))).toBeUndefined()
      })

      it('changes the version with the content and not with a read', async () => {
        put('f', 'a')
        const first = await versionOf('f')
        await fs.readText(await target('f'))
        expect(await versionOf('f')).toBe(first)
        put('f', 'bc')
        expect(await versionOf('f')).not.toBe(first)
      })

      it('reads strict UTF-8, whole and in pieces alike', async () => {
        const long = `\uFEFF${'añ漢😀\r\n'.repeat(60_000)}end`
        put('long', long)
        const t = await target('long')
        expect(await fs.readText(t)).toBe(long.slice(1))
        let pieces = ''
        for await (const piece of fs.streamText(t)) pieces += piece
        expect(pieces).toBe(long.slice(1))
      })

      it.each([
        ['a NUL in the first 8 KiB', Buffer.from([104, 0, 105]), 'binary file'],
        ['a lone continuation byte', Buffer.from([0x61, 0x80]), 'invalid UTF-8 text'],
        ['an overlong form', Buffer.from([0xc0, 0xaf]), 'invalid UTF-8 text'],
        ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), 'invalid UTF-8 text'],
        ['a sequence cut by the end', Buffer.from([0x78, 0xe6, 0xbc]), 'invalid UTF-8 text'],
      ])('refuses %s', async (_name, content, reason) => {
        put('bad', content)
        const t = await target('bad')
        const message = `cannot read "${at('bad')}": ${reason}`
        await expect(fs.readText(t)).rejects.toMatchObject({ code: 'FS_NOT_TEXT', message })
        const stream = async () => {
          for await (const _ of fs.streamText(t)) void _
        }
        await expect(stream()).rejects.toMatchObject({ code: 'FS_NOT_TEXT', message })
      })

      it('lets a NUL behind the first 8 KiB pass', async () => {
        put('late', `${'a'.repeat(9000)}\0`)
        expect(await fs.readText(await target('late'))).toHaveLength(9001)
      })

      it('refuses what is no regular file without waiting for it', async () => {
        nodeFs.mkdirSync(at('d'))
        const paths = [at('d'), '/dev/null']
        for (const path of paths)
          await expect(fs.readText(await fs.resolve(path))).rejects.toMatchObject({ code: 'FS_NOT_REGULAR_FILE' })
      })

      it('fails on too many bytes instead of cutting them', async () => {
        put('f', 'abcd')
        const t = await target('f')
        expect(Buffer.from(await fs.readBytes(t, undefined, 4)).toString()).toBe('abcd')
        await expect(fs.readBytes(t, undefined, 3)).rejects.toMatchObject({
          code: 'FS_TOO_LARGE',
          message: `cannot read "${at('f')}": 4 bytes exceeds the 3-byte limit`,
        })
      })

      it('lists one level in code-point order, a broken link as other', async () => {
        put('b', '')
        put('B', '')
        put('ä', '')
        nodeFs.mkdirSync(at('c'))
        nodeFs.symlinkSync('nowhere', at('dl'))
        const entries = await fs.listDir(await fs.resolve(under.root))
        expect(entries.map((entry) => [entry.name, entry.type])).toEqual([
          ['B', 'file'],
          ['b', 'file'],
          ['c', 'directory'],
          ['dl', 'other'],
          ['ä', 'file'],
        ])
        await expect(fs.listDir(await target('b'))).rejects.toMatchObject({ code: 'FS_NOT_DIRECTORY' })
        await expect(fs.listDir(await target('none'))).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
      })
    })

    describe('writing', () => {
      it('creates with its directories, then replaces, byte for byte', async () => {
        const content = '\uFEFFa\r\nb\n\rc\u2028'
        const made = await fs.writeText(await target('x/y/f'), content, { kind: 'createIfAbsent' })
        expect(made).toMatchObject({ operation: 'create', before: null })
        expect(text('x/y/f')).toBe(content)
        const again = await fs.writeText(await target('x/y/f'), 'z')
        expect(again).toMatchObject({ operation: 'update', after: 'z' })
        expect(text('x/y/f')).toBe('z')
        expect(again.version).toBe(await versionOf('x/y/f'))
      })

      it('gives a new file the modes the umask leaves and keeps those of an old one', async () => {
        await fs.writeText(await target('new'), 'x')
        expect(nodeFs.statSync(at('new')).mode & 0o777).toBe(0o666 & ~process.umask())
        put('run.sh', 'a')
        nodeFs.chmodSync(at('run.sh'), 0o755)
        await fs.writeText(await target('run.sh'), 'b')
        expect(nodeFs.statSync(at('run.sh')).mode & 0o777).toBe(0o755)
      })

      it('never clobbers under createIfAbsent', async () => {
        put('f', 'theirs')
        await expect(fs.writeText(await target('f'), 'mine', { kind: 'createIfAbsent' })).rejects.toMatchObject({
          code: 'FS_NOT_OBSERVED',
          message: `cannot overwrite existing "${at('f')}" without reading it first`,
        })
        expect(text('f')).toBe('theirs')
      })

      it('refuses a version that is gone', async () => {
        put('f', 'one')
        const version = await versionOf('f')
        const intent = { kind: 'replaceIfVersion', version } as const
        put('f', 'other')
        await expect(fs.writeText(await target('f'), 'mine', intent)).rejects.toMatchObject({
          code: 'FS_STALE_VERSION',
          message: `cannot write "${at('f')}": file changed since it was read`,
        })
        nodeFs.unlinkSync(at('f'))
        await expect(fs.writeText(await target('f'), 'mine', intent)).rejects.toMatchObject({
          code: 'FS_STALE_VERSION',
          message: `cannot write "${at('f')}": file no longer exists`,
        })
      })

      it('takes equal bytes as fresh after a touch or chmod, and other bytes of the same size as stale', async () => {
        put('f', 'same')
        const t = await target('f')
        const version = await versionOf('f')
        await fs.readText(t)
        nodeFs.chmodSync(at('f'), 0o600)
        nodeFs.utimesSync(at('f'), 1, 1)
        expect(
          (await fs.editText(t, { oldString: 'same', newString: 'also', replaceAll: false }, { version })).after,
        ).toBe('also')
        const next = await versionOf('f')
        put('f', 'also'.toUpperCase())
        await expect(
          fs.editText(t, { oldString: 'ALSO', newString: 'x', replaceAll: false }, { version: next }),
        ).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
      })

      it('writes through a link and leaves the link', async () => {
        put('t', 'a')
        nodeFs.symlinkSync('t', at('l'))
        await fs.writeText(await target('l'), 'b')
        expect(text('t')).toBe('b')
        expect(nodeFs.lstatSync(at('l')).isSymbolicLink()).toBe(true)
      })

      it('refuses directories and dangling links', async () => {
        nodeFs.mkdirSync(at('d'))
        nodeFs.symlinkSync('nowhere', at('dl'))
        for (const name of ['d', 'dl'])
          await expect(fs.writeText(await target(name), 'x')).rejects.toMatchObject({
            code: 'FS_NOT_REGULAR_FILE',
            message: `cannot write "${at(name)}": not a regular file`,
          })
        expect(nodeFs.existsSync(at('nowhere'))).toBe(false)
      })

      it('writes names of 255 bytes and leaves nothing beside them', async () => {
        const name = 'n'.repeat(255)
        await fs.writeText(await target(name), 'x')
        await fs.writeText(await target(name), 'y')
        expect(text(name)).toBe('y')
        await expect(target('n'.repeat(256))).rejects.toThrow(/file name too long/)
        expect(leftovers()).toEqual([])
      })

      it('has one winner per version among ten at once', async () => {
        put('f', 'base')
        const version = await versionOf('f')
        const t = await target('f')
        const results = await Promise.allSettled(
          Array.from({ length: 10 }, (_, index) =>
            fs.writeText(t, `writer ${index}`, { kind: 'replaceIfVersion', version }),
          ),
        )
        expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
        const created = await Promise.allSettled(
          Array.from({ length: 10 }, async (_, index) =>
            fs.writeText(await target('g'), `${index}`, { kind: 'createIfAbsent' }),
          ),
        )
        expect(created.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
      })

      it('stops before anything happens when it was aborted', async () => {
        put('f', 'a')
        const t = await target('f')
        await expect(fs.writeText(t, 'b', undefined, aborted())).rejects.toMatchObject({
          code: 'FS_ABORTED',
          message: 'write aborted',
        })
        await expect(fs.readText(t, aborted())).rejects.toMatchObject({ code: 'FS_ABORTED', message: 'read aborted' })
        expect(text('f')).toBe('a')
        expect(leftovers()).toEqual([])
      })
    })

    describe('editing', () => {
      const edit = async (name: string, oldString: string, newString: string, replaceAll = false) =>
        await fs.editText(await target(name), { oldString, newString, replaceAll })

      it.each([
        ['LF', 'a\nb\n', 'b', 'x\ny', 'a\nx\ny\n'],
        ['CRLF', 'a\r\nb\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\n'],
        ['a CRLF needle in LF', 'a\nb\n', 'a\r\nb', 'x', 'x\n'],
        ['a mixed file', 'a\r\nb\nc\r\n', 'b', 'x\ny', 'a\r\nx\ny\nc\r\n'],
        ['an unterminated CRLF file', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
        ['a byte order mark', '\uFEFFhello\n', 'hello', 'bye', '\uFEFFbye\n'],
        ['a needle with a byte order mark', '\uFEFFhello\n', '\uFEFFhello', '\uFEFFbye', '\uFEFFbye\n'],
        ['dollar patterns', 'X', 'X', "$&$1$$$`$'", "$&$1$$$`$'"],
        ['overlap', 'aaa', 'aa', 'b', 'ba'],
        ['a lone CR', 'a\rb\n', 'b', 'c', 'a\rc\n'],
      ])('changes only the span: %s', async (_name, before, oldString, newString, after) => {
        put('f', before)
        await edit('f', oldString, newString)
        expect(text('f')).toBe(after)
      })

      it('counts before it replaces', async () => {
        put('f', 'a a a\n')
        await expect(edit('f', 'a', 'b')).rejects.toMatchObject({
          code: 'FS_AMBIGUOUS_EDIT',
          message: `old_string matched 3 times in "${at('f')}"; provide a more specific old_string or set replace_all to true`,
        })
        await expect(edit('f', 'zz', 'b')).rejects.toMatchObject({
          code: 'FS_EDIT_NOT_FOUND',
          message: `old_string was not found in "${at('f')}"`,
        })
        await edit('f', 'a', 'b', true)
        expect(text('f')).toBe('b b b\n')
      })

      it('checks the guard before it matches, and takes a missing file as stale', async () => {
        put('f', 'a')
        const version = await versionOf('f')
        put('f', 'other')
        const request = { oldString: 'none', newString: 'x', replaceAll: false }
        const stale = { code: 'FS_STALE_VERSION' }
        await expect(fs.editText(await target('f'), request, { version })).rejects.toMatchObject(stale)
        await expect(fs.editText(await target('gone'), request)).rejects.toMatchObject(stale)
      })

      it('refuses a file that is no text and keeps its bytes', async () => {
        const content = Buffer.concat([Buffer.from('a'.repeat(9000)), Buffer.from([0])])
        put('f', content)
        await expect(edit('f', 'a', 'b', true)).rejects.toMatchObject({ code: 'FS_NOT_TEXT' })
        expect(bytes('f').equals(content)).toBe(true)
      })

      it('never splits a character', async () => {
        put('f', '😀')
        await expect(edit('f', '\ude00', 'x')).rejects.toMatchObject({ code: 'FS_EDIT_NOT_FOUND' })
        expect(text('f')).toBe('😀')
      })
    })

    describe('patching, removing, moving', () => {
      const chunk = (removed: string, added: string) => ({
        contexts: [],
        lines: [
          { kind: 'remove' as const, text: removed },
          { kind: 'add' as const, text: added },
        ],
        endOfFile: false,
      })

      it('applies chunks with the endings of the file', async () => {
        put('f', 'a\r\nb\nc\r\n')
        const outcome = await fs.patchText(await target('f'), [chunk('b', 'B'), chunk('c', 'C')])
        expect(outcome.after).toBe('a\nB\nC\n')
        expect(text('f')).toBe('a\r\nB\nC\r\n')
      })

      it('removes a file at its version only', async () => {
        put('f', 'x')
        const version = await versionOf('f')
        put('f', 'yy')
        await expect(fs.deleteFile(await target('f'), { version })).rejects.toMatchObject({ code: 'FS_STALE_VERSION' })
        expect(await fs.deleteFile(await target('f'), { version: await versionOf('f') })).toMatchObject({
          before: 'yy',
        })
        expect(nodeFs.existsSync(at('f'))).toBe(false)
      })

      it('moves with a change, and never over an unread file', async () => {
        put('a', 'x\n')
        put('taken', 'theirs')
        const guard = { destination: { kind: 'createIfAbsent' } } as const
        await expect(
          fs.moveFile(await target('a'), await target('taken'), [chunk('x', 'y')], guard),
        ).rejects.toMatchObject({ code: 'FS_NOT_OBSERVED' })
        const moved = await fs.moveFile(await target('a'), await target('d/b'), [chunk('x', 'y')], guard)
        expect(moved).toMatchObject({ operation: 'create', sourceRemoved: true, sourceBefore: 'x\n', after: 'y\n' })
        expect(text('d/b')).toBe('y\n')
        expect(nodeFs.existsSync(at('a'))).toBe(false)
        expect(text('taken')).toBe('theirs')
      })
    })

    it('leaves every other file of the directory alone', async () => {
      const other = randomBytes(64)
      put('other', other)
      put('f', 'a')
      await fs.writeText(await target('f'), 'b')
      await fs.editText(await target('f'), { oldString: 'b', newString: 'c', replaceAll: false })
      expect(nodeFs.readdirSync(under.root).sort()).toEqual(['f', 'other'])
      expect(bytes('other').equals(other)).toBe(true)
    })
  })
}
