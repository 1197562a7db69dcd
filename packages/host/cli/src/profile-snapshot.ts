import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '@dsh/core'

const FILES = ['package.json', 'package-lock.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']

/** What a package manager writes into a profile, beside `node_modules`. */
export class ProfileSnapshot {
  private readonly dir: string
  private readonly texts: ReadonlyMap<string, string | undefined>
  private constructor(dir: string, texts: ReadonlyMap<string, string | undefined>) {
    this.dir = dir
    this.texts = texts
  }

  static async take(dir: string): Promise<ProfileSnapshot> {
    const entries = await Promise.all(FILES.map(async (name) => [name, await textOf(join(dir, name))] as const))
    return new ProfileSnapshot(dir, new Map(entries))
  }

  get manifest(): string {
    return this.texts.get('package.json') ?? '{}'
  }

  async restore(): Promise<void> {
    for (const [name, text] of this.texts) {
      if (text === undefined) await rm(join(this.dir, name), { force: true })
      else await writeFile(join(this.dir, name), text)
    }
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
