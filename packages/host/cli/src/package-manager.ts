import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

export interface Manager {
  readonly name: 'pnpm' | 'npm'
  readonly path: string
}

/** The one whose lock file is there; else pnpm, else npm. */
export function findManager(dir: string): Manager | undefined {
  const order = existsSync(join(dir, 'package-lock.json')) ? (['npm', 'pnpm'] as const) : (['pnpm', 'npm'] as const)
  for (const name of order) {
    const path = onPath(name)
    if (path !== undefined) return { name, path }
  }
  return undefined
}

const NPM_VERBS: Readonly<Record<string, string>> = { add: 'install', remove: 'uninstall', list: 'ls' }

/** Runs it in the profile's directory; gives its exit code. */
export function runManager(
  manager: Manager,
  dir: string,
  words: readonly string[],
  output: 'shown' | 'quiet' = 'shown',
): Promise<number> {
  const [verb = '', ...rest] = words
  const args = manager.name === 'npm' ? [NPM_VERBS[verb] ?? verb, '--no-audit', '--no-fund', ...rest] : [verb, ...rest]
  const stdio = output === 'shown' ? (['inherit', 2, 2] as const) : 'ignore'
  return new Promise((resolve) => {
    const child = spawn(manager.path, args, {
      cwd: dir,
      stdio: verb === 'list' ? 'inherit' : (stdio as 'inherit'),
      shell: process.platform === 'win32',
    })
    child.on('error', () => resolve(127))
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** Brings the installed packages in line with a manifest that was put back. pnpm forgets the links it made: `added`. */
export async function bringBack(manager: Manager, dir: string, added: readonly string[]): Promise<void> {
  for (const name of added) await rm(join(dir, 'node_modules', name), { recursive: true, force: true })
  await runManager(manager, dir, ['install'], 'quiet')
  await runManager(manager, dir, ['prune'], 'quiet')
}

function onPath(name: string): string | undefined {
  const suffixes = process.platform === 'win32' ? ['.cmd', '.exe'] : ['']
  for (const dir of (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    for (const suffix of suffixes) {
      const file = join(dir, `${name}${suffix}`)
      try {
        accessSync(file, constants.X_OK)
        return file
      } catch {}
    }
  }
  return undefined
}
