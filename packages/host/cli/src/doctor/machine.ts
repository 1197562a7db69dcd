import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { errorText } from '@dsh/core'
import type { DoctorCheck } from '@dsh/host'
import { version } from '../version.ts'

const run = promisify(execFile)
const OLDEST = [20, 19] as const

/** Node, the program itself, the platform. */
export const node: DoctorCheck = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  const text = `${process.version}, ${process.platform} ${process.arch}`
  return [
    fits
      ? { check: 'node', status: 'ok', text }
      : { check: 'node', status: 'fail', text, remedy: `install Node ${OLDEST.join('.')} or newer` },
    { check: 'dsh', status: 'ok', text: version },
    ...(process.platform === 'linux'
      ? []
      : [
          {
            check: 'platform',
            status: 'note' as const,
            text: `${process.platform} is untested: its confinement is built but has not been run here`,
          },
        ]),
  ]
}

/** Whether somebody collects what commands leave behind: in a container dsh may be the first process itself. */
export const firstProcess: DoctorCheck = async () =>
  process.pid === 1
    ? [
        {
          check: 'first process',
          status: 'note',
          text: 'dsh is process 1 here: what commands leave behind stays as zombies until dsh ends',
          remedy: 'start the container with an init process (docker run --init)',
        },
      ]
    : []

/** The search program that comes with dsh. */
export const ripgrep: DoctorCheck = async () => {
  const check = 'ripgrep'
  try {
    const main = createRequire(import.meta.url).resolve('@vscode/ripgrep')
    const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
    const path = createRequire(main).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${program}`)
    const { stdout } = await run(path, ['--version'])
    return [{ check, status: 'ok', text: `${stdout.split('\n')[0]} (${path})` }]
  } catch (error) {
    const text = `not usable: ${errorText(error).split('\n')[0]}`
    return [
      { check, status: 'fail', text, remedy: 'install dsh again with optional dependencies: glob and grep need it' },
    ]
  }
}

/** The optional library that read_image converts with. */
export const images: DoctorCheck = async () => {
  const check = 'images'
  try {
    const { default: sharp } = await import('sharp')
    return [{ check, status: 'ok', text: `sharp ${sharp.versions.sharp ?? ''}`.trimEnd() }]
  } catch (error) {
    const text = `sharp is not usable (${errorText(error).split('\n')[0]}): only small images can be read, unchanged`
    return [{ check, status: 'note', text, remedy: 'install dsh again with optional dependencies' }]
  }
}

const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY']

/** Which proxies the model's connection goes through. */
export const proxies: DoctorCheck = async ({ env }) => {
  const set = PROXIES.flatMap((name) => {
    const value = env[name] ?? env[name.toLowerCase()]
    return value === undefined || value === '' ? [] : [`${name}=${withoutPassword(value)}`]
  })
  return [{ check: 'proxy', status: 'ok', text: set.length === 0 ? 'none: direct connections' : set.join(' ') }]
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//…@')
}

/** Whether a bare `dsh` can talk to a person here. */
export const terminal: DoctorCheck = async ({ env }) => {
  const both = process.stdin.isTTY === true && process.stdout.isTTY === true
  if (!both && !hasControllingTerminal())
    return [{ check: 'terminal', status: 'note', text: 'this is none: use dsh -p "task"' }]
  return [{ check: 'terminal', status: 'ok', text: env['TERM'] ?? 'no TERM' }]
}

/** Also where a pipe or the terminal surface reads what doctor says. */
function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
