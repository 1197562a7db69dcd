import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach } from 'vitest'

export const bin = resolve(import.meta.dirname, '../bin/dsh.js')
export const rows = resolve(import.meta.dirname, 'rows')

export interface Run {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

/** A home and a working directory of its own, and the built program in it. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-cli-')))
  readonly home = join(this.root, 'home')
  readonly work = join(this.root, 'work')
  private readonly env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv = {}) {
    mkdirSync(this.work)
    const { DEEPSEEK_API_KEY: _key, DSH_LOG: _log, DSH_PERMISSION_MODE: _mode, ...inherited } = process.env
    this.env = { ...inherited, HOME: this.root, DSH_HOME: this.home, ...env }
    places.push(this)
  }

  /** Writes below the home (`home/…`) or the working directory (`work/…`). */
  write(path: string, text: string, mode = 0o600): string {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
    return file
  }

  /** A profile of rows given as YAML list items; no bundle. */
  profile(name: string, items: string): void {
    const bundle = `home/profiles/${name}/node_modules/tb`
    this.write(`${bundle}/package.json`, JSON.stringify({ name: 'tb', dsh: { bundle: { patch: './patch.yml' } } }))
    this.write(`${bundle}/patch.yml`, items)
    this.write(
      `home/profiles/${name}/package.json`,
      JSON.stringify({ name: `dsh-profile-${name}`, private: true, dsh: { profile: { bundles: ['tb'] } } }),
    )
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [bin, ...args], { cwd: this.work, env: { ...this.env, ...env } })
  }

  run(args: readonly string[], options: { env?: NodeJS.ProcessEnv; stdin?: string } = {}): Promise<Run> {
    const child = this.start(args, options.env)
    child.stdin?.end(options.stdin ?? '')
    return ended(child)
  }
}

export function ended(child: ChildProcess): Promise<Run> {
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((done) => {
    child.on('close', (code, signal) => done({ code: signal ?? code ?? -1, stdout, stderr }))
  })
}

/** Resolves when the child's stdout has this text. */
export function says(child: ChildProcess, text: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
  let seen = ''
  return new Promise((done, fail) => {
    child[stream]?.on('data', (chunk: Buffer | string) => {
      seen += String(chunk)
      if (seen.includes(text)) done()
    })
    child.on('close', () => fail(new Error(`ended without saying ${JSON.stringify(text)}: ${seen}`)))
  })
}

const places: Place[] = []
afterEach(() => {
  for (const place of places.splice(0)) rmSync(place.root, { recursive: true, force: true })
})
