import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDirectory, makeDirectorySync } from '../src/make-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'dsh-mkdir-'))
const ways: [string, (path: string) => Promise<void>][] = [
  ['later', (path) => makeDirectory(path)],
  ['at once', async (path) => makeDirectorySync(path)],
]

test.each(ways)('directories are made with those above them, and may be there already (%s)', async (way, make) => {
  await make(join(root, way, 'a', 'b'))
  await make(join(root, way, 'a', 'b'))
  await make('/')
  expect(statSync(join(root, way, 'a', 'b')).isDirectory()).toBe(true)
})

test.each(ways)('a file in the way is the fault that it is (%s)', async (way, make) => {
  writeFileSync(join(root, `file ${way}`), '')
  await expect(make(join(root, `file ${way}`))).rejects.toThrow(/EEXIST/)
  await expect(make(join(root, `file ${way}`, 'x'))).rejects.toThrow(/ENOTDIR/)
})

test.skipIf(!existsSync('/proc/self')).each(ways)(
  'where nothing can be made the attempt ends (%s)',
  async (_, make) => {
    await expect(make('/proc/nope/a/b')).rejects.toThrow(/ENOENT/)
  },
)
