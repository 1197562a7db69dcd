import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FsPatchChunk, FsService } from '@dsh/fs'

export const before = 'old line\n'
export const after = 'new line\n'

/** Every kind of change, from the same beginning: `f` holds `before`, `to` is free. */
export const mutations: Record<string, (fs: FsService, root: string) => Promise<unknown>> = {
  create: async (fs, root) => fs.writeText(await fs.resolve(join(root, 'to')), after, { kind: 'createIfAbsent' }),
  replace: async (fs, root) => {
    const target = await fs.resolve(join(root, 'f'))
    const version = (await fs.stat(target))?.version as string
    return await fs.writeText(target, after, { kind: 'replaceIfVersion', version })
  },
  edit: async (fs, root) =>
    fs.editText(await fs.resolve(join(root, 'f')), { oldString: 'old', newString: 'new', replaceAll: false }),
  patch: async (fs, root) => fs.patchText(await fs.resolve(join(root, 'f')), [chunk]),
  delete: async (fs, root) => fs.deleteFile(await fs.resolve(join(root, 'f'))),
  move: async (fs, root) =>
    fs.moveFile(await fs.resolve(join(root, 'f')), await fs.resolve(join(root, 'to')), [chunk], {
      destination: { kind: 'createIfAbsent' },
    }),
}

const chunk: FsPatchChunk = {
  contexts: [],
  endOfFile: false,
  lines: [
    { kind: 'remove', text: 'old line' },
    { kind: 'add', text: 'new line' },
  ],
}

export function prepare(root: string): void {
  writeFileSync(join(root, 'f'), before)
}

/** Whole old or whole new, under each name. */
export function isWhole(root: string): boolean {
  const f = contentOf(join(root, 'f'))
  const to = contentOf(join(root, 'to'))
  const whole = [undefined, before, after].includes(f) && [undefined, after].includes(to)
  // At no moment is the text in neither place, save after a finished delete.
  return whole
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
