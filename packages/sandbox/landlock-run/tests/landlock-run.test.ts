import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { abiGaps, findLauncher, type LandlockGrants, landlockAbi, landlockArgv, landlockStatus } from '../src/index.ts'

const launcher = findLauncher()
const abi = launcher && landlockAbi(spawnSync(launcher.path, ['--probe'], { encoding: 'utf8' }).stdout)
const has = (program: string) => spawnSync(program, ['--version']).status === 0
const compilers = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' }

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(homedir(), '.dsh-landlock-')))
  mkdirSync(join(dir, 'w'))
  mkdirSync(join(dir, 'out'))
  writeFileSync(join(dir, 'out/file'), 'before\n')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function run(program: string, grants: LandlockGrants, command: readonly string[]) {
  const status = join(dir, 'status')
  const fd = openSync(status, 'w')
  const [file, ...args] = landlockArgv(program, { ...grants, statusFd: 3 }, command) as [string, ...string[]]
  const done = spawnSync(file, args, { stdio: ['ignore', 'pipe', 'pipe', fd], encoding: 'utf8', cwd: dir })
  return { ...done, ...landlockStatus(readFileSync(status, 'utf8')) }
}

describe.skipIf(abi === undefined)('the launcher', () => {
  const program = launcher?.path ?? ''
  const grants = () => ({ read: ['/'], write: ['/dev/null', join(dir, 'w')] })
  const sh = (script: string, more: Partial<LandlockGrants> = {}) =>
    run(program, { ...grants(), ...more }, ['/bin/sh', '-c', script])

  it('lets a command write where it is granted, and nowhere else', () => {
    expect(sh('echo in > w/f && cat w/f out/file > /dev/null && echo ok')).toMatchObject({
      status: 0,
      stdout: 'ok\n',
      ran: true,
    })
    for (const attempt of [
      'echo x > out/new',
      'echo x >> out/file',
      'rm out/file',
      'mv out/file w/',
      'ln out/file w/l',
      'mkdir out/d',
      ': > out/file',
    ])
      expect(sh(attempt), attempt).toMatchObject({
        ran: true,
        stderr: expect.stringMatching(/[Pp]ermission denied|cross-device/i) as string,
      })
    expect(readFileSync(join(dir, 'out/file'), 'utf8')).toBe('before\n')
  })

  it('passes the exit code and the environment through, and keeps its descriptor to itself', () => {
    expect(sh('exit 7')).toMatchObject({ status: 7, ran: true })
    expect(sh('kill -9 $$')).toMatchObject({ signal: 'SIGKILL', ran: true })
    expect(sh('(echo failed >&3) 2>/dev/null || echo closed')).toMatchObject({ stdout: 'closed\n', ran: true })
  })

  it.each([
    ['a program that is not there', ['/nope'], /^landlock-run: exec failed: \/nope: No such file or directory\n$/],
    [
      'a program that is no program',
      ['/etc/passwd'],
      /^landlock-run: exec failed: \/etc\/passwd: Permission denied\n$/,
    ],
  ])('says with 125 that it did not run %s', (_, command, text) => {
    const done = run(program, grants(), command)
    expect(done).toMatchObject({ status: 125, ran: false, stdout: '' })
    expect(done.stderr).toMatch(text)
  })

  it('refuses a grant that is missing or behind a link', () => {
    symlinkSync(join(dir, 'out'), join(dir, 'w/link'))
    for (const path of [join(dir, 'absent'), join(dir, 'w/link')]) {
      const done = run(program, { read: ['/'], write: [path] }, ['/bin/true'])
      expect(done).toMatchObject({ status: 125, ran: false })
      expect(done.stderr).toMatch(/^landlock-run: cannot open rule path: /)
    }
  })

  it.each([
    [['--ro'], 'missing value: --ro'],
    [['--ro', '/'], 'no command'],
    [['--ro', '/', '--'], 'no command'],
    [['--any', '--', '/bin/true'], 'unknown argument: --any'],
    [['--status-fd', 'x', '--', '/bin/true'], 'not a descriptor: x'],
    [['--probe', '--', '/bin/true'], 'unknown argument: --probe'],
  ])('takes no other command line than its own: %j', (args, text) => {
    const done = spawnSync(program, args, { encoding: 'utf8' })
    expect([done.status, done.stdout, done.stderr]).toEqual([125, '', `landlock-run: usage error: ${text}\n`])
  })

  it('leaves root no power beyond files, and none to gain any', () => {
    const status = sh('cat /proc/self/status').stdout
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m)
    if (process.geteuid?.() === 0)
      for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(status).toMatch(new RegExp(`^${set}:\\s*0*b$`, 'm'))
    else expect(status).toMatch(/^CapEff:\s*0+$/m)
  })

  it('takes along what the command left running, in whichever session', () => {
    const mark = `3${process.pid}`
    const started = performance.now()
    expect(
      sh(`sleep 60.${mark} & setsid sleep 61.${mark} & (setsid setsid sleep 62.${mark} &) ; sleep 0.1; echo left`)
        .stdout,
    ).toBe('left\n')
    expect(performance.now() - started).toBeLessThan(5000)
    expect(processes(mark)).toEqual([])
  })

  it('lets a command clean up on TERM, and ends everything on KILL or when its caller dies', async () => {
    const start = async (mark: string) => {
      const script = `trap 'echo bye; exit 3' TERM; setsid sleep 60.${mark} & sleep 61.${mark} & echo up; wait`
      const [file, ...args] = landlockArgv(program, grants(), ['/bin/sh', '-c', script]) as [string, ...string[]]
      const child = spawn(file, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'], cwd: dir })
      let said = ''
      await new Promise<void>((resolve) =>
        child.stdout.on('data', (chunk: Buffer) => {
          said += chunk.toString()
          resolve()
        }),
      )
      const ended = new Promise<unknown>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
      return { group: -(child.pid as number), ended, said: () => said }
    }
    const polite = await start(`4${process.pid}`)
    process.kill(polite.group, 'SIGTERM')
    expect(await polite.ended).toBe(3)
    expect(polite.said()).toBe('up\nbye\n')
    expect(processes(`4${process.pid}`)).toEqual([])

    const hard = await start(`5${process.pid}`)
    process.kill(hard.group, 'SIGKILL')
    expect(await hard.ended).toBe('SIGKILL')
    await expect.poll(() => processes(`5${process.pid}`)).toEqual([])
  })

  it('makes no device nodes in a writable directory', () => {
    expect(sh('mknod w/disk b 8 0 || mknod w/null c 1 3').status).not.toBe(0)
  })

  it.skipIf((abi ?? 0) < 6)('keeps signals and abstract sockets inside', () => {
    expect(sh(`kill -0 ${process.pid}`).stderr).toMatch(/not permitted/)
  })

  it.skipIf((abi ?? 0) < 4)('cuts TCP when asked', () => {
    const connect = `import { connect } from 'node:net'; connect(9, '127.0.0.1').on('error', (e) => console.log(e.code))`
    const node = [process.execPath, '--input-type=module', '-e', connect]
    expect(run(program, grants(), node).stdout).toBe('ECONNREFUSED\n')
    expect(run(program, { ...grants(), noTcp: true }, node).stdout).toBe('EACCES\n')
  })
})

/** Command lines that end in a number with this mark. */
function processes(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()]
      } catch {
        return []
      }
    })
    .filter((line) => line.startsWith('sleep ') && line.endsWith(mark))
}

describe('the file that is shipped', () => {
  it('is found beside the sources and beside a bundle, and nothing else is taken for it', () => {
    expect(launcher?.path).toMatch(/\/bin\/landlock-run-linux-/)
    if (launcher === undefined) return
    const bundle = join(dir, 'dist/assets')
    mkdirSync(join(bundle, 'landlock-run'), { recursive: true })
    const from = pathToFileURL(join(bundle, '../rows/chunk.js')).href
    const copy = join(bundle, `landlock-run/landlock-run-linux-${process.arch}`)
    copyFileSync(launcher.path, copy)
    expect(findLauncher(process.arch, from)?.path).toBe(copy)
    chmodSync(copy, 0o755)
    writeFileSync(copy, '#!/bin/sh\nexec "$@"\n')
    expect(findLauncher(process.arch, from)).toBeUndefined()
    expect(findLauncher('mips', from)).toBeUndefined()
  })

  it('is one small static file for each architecture', () => {
    for (const [arch, machine] of [
      ['x64', 62],
      ['arm64', 183],
    ] as const) {
      const bytes = findLauncher(arch)?.bytes
      expect(bytes?.length).toBeLessThan(8192)
      expect(Buffer.from(bytes ?? []).readUInt16LE(18)).toBe(machine)
    }
  })

  it.each(Object.entries(compilers).filter(([, compiler]) => has(compiler)))(
    'built again for %s with %s behaves the same',
    (arch) => {
      const build = fileURLToPath(new URL('../build.mjs', import.meta.url))
      const out = join(dir, `built-${arch}`)
      execFileSync(process.execPath, [build, '--out', out, '--only', arch], { stdio: 'pipe' })
      const built = join(out, `landlock-run-linux-${arch}`)
      const shipped = findLauncher(arch)?.path ?? ''
      const emulator = arch === process.arch ? [] : arch === 'arm64' ? ['qemu-aarch64-static'] : ['qemu-x86_64-static']
      if (emulator[0] !== undefined && !has(emulator[0])) return
      const same = (args: readonly string[]) => {
        const [ours, theirs] = [shipped, built].map((file) => {
          const [program, ...rest] = [...emulator, file, ...args] as [string, ...string[]]
          const { status, stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8', cwd: dir })
          return { status, stdout, stderr }
        })
        expect(theirs, args.join(' ')).toEqual(ours)
      }
      for (const args of [
        ['--probe'],
        [],
        ['--ro'],
        ['--ro', '/nope', '--', '/bin/true'],
        ['--status-fd', '9x', '--', 'a'],
      ])
        same(args)
      if (emulator.length > 0) return
      for (const script of ['echo a > w/b; cat w/b', 'echo a > out/b', 'exit 9', 'grep Cap /proc/self/status'])
        same(['--ro', '/', '--rw', join(dir, 'w'), '--', '/bin/sh', '-c', script])
    },
  )
})

it('an older kernel is told apart by what it leaves open', () => {
  expect(abiGaps(7)).toEqual([])
  expect(abiGaps(6)).toEqual([])
  expect(abiGaps(5)).toEqual(['signals to processes outside', 'abstract unix sockets'])
  expect(abiGaps(2)).toEqual([
    'truncating files outside',
    'device controls',
    'signals to processes outside',
    'abstract unix sockets',
  ])
  expect(landlockAbi('landlock: fully enforced\nabi 7\n')).toBe(7)
  expect(landlockAbi('')).toBeUndefined()
})
