import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import type { SandboxPolicy } from '@dsh/sandbox'
import * as policyRow from '@dsh/sandbox-policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as row from '../src/index.ts'

const bwrap = spawnSync('bwrap', ['--ro-bind', '/', '/', '--', 'true']).status === 0
const rungs = ['bwrap', 'landlock'] as const

let base: string
const at = (...parts: string[]) => join(base, ...parts)
beforeEach(() => {
  // Outside every temporary directory that workspace-write may change.
  base = realpathSync(mkdtempSync('/var/tmp/dsh-at-work-'))
  for (const name of ['w', 'home', 'user']) mkdirSync(at(name))
})
const open: Context[] = []
afterEach(async () => {
  for (const ctx of open.splice(0)) await ctx.fiber.dispose()
  rmSync(base, { recursive: true, force: true })
})

async function sandbox(config: object = {}, policyConfig: object = {}) {
  const ctx = new Context()
  open.push(ctx)
  ctx.provide('dshHomePath', (...parts: string[]) => at('home', ...parts))
  await ctx.plugin(row, row.Config.parse(config))
  await ctx.plugin(
    policyRow,
    policyRow.Config.parse({ mode: 'workspace-write', workspaceRoot: at('w'), ...policyConfig }),
  )
  const report = await ctx.sandbox.report()

  async function run(script: string, more: Partial<SandboxPolicy> & { cwd?: string } = {}) {
    const { cwd = at('w'), ...fields } = more
    const policy = { ...ctx.sandboxPolicy.resolve(), ...fields }
    const confined = await ctx.sandbox.confine({ argv: ['/bin/bash', '-c', script], policy, cwd })
    const [program, ...args] = confined.argv as [string, ...string[]]
    const child = spawn(program, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...confined.env, PATH: process.env['PATH'], HOME: at('user'), LANG: 'C.UTF-8' },
    })
    const text = ['', '', '', '']
    for (const fd of [1, 2, 3]) child.stdio[fd]?.on('data', (chunk: Buffer) => (text[fd] += chunk.toString()))
    const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return { exitCode, stdout: text[1], stderr: text[2], ...confined.readStatus?.(text[3] ?? ''), confined }
  }
  return { ctx, run, report }
}

describe.each(rungs)('work under %s', (rung) => {
  const usable = rung === 'bwrap' ? bwrap : process.platform === 'linux'
  const start = (config: object = {}, policyConfig: object = {}) => sandbox({ rungs: [rung], ...config }, policyConfig)

  it.skipIf(!usable)('a command starts where it should, and its exit code comes through', async (test) => {
    const { run, report } = await start()
    if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
    mkdirSync(at('w/a b'))
    expect(await run('pwd; exit 7', { cwd: at('w/a b') })).toMatchObject({
      stdout: `${at('w/a b')}\n`,
      exitCode: 7,
      ran: true,
    })
    expect(await run('pwd', { cwd: '/usr/lib' })).toMatchObject({ stdout: '/usr/lib\n' })
  })

  it.skipIf(!usable)('npm installs, although the person’s cache is not writable', async (test) => {
    const { run, report } = await start()
    if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
    mkdirSync(at('lib'))
    writeFileSync(at('lib/package.json'), '{"name":"lib","version":"1.0.0"}')
    execFileSync('npm', ['pack', '--silent', '--pack-destination', base], {
      cwd: at('lib'),
      env: { ...process.env, npm_config_cache: at('other') },
    })
    writeFileSync(at('w/package.json'), '{"name":"w","version":"1.0.0"}')
    const done = await run('npm install --offline --no-audit --no-fund ../lib-1.0.0.tgz')
    expect(done.exitCode, done.stderr).toBe(0)
    expect(existsSync(at('w/node_modules/lib/package.json'))).toBe(true)
    expect(existsSync(at('home/package-cache/npm/_cacache'))).toBe(true)
    expect(readdirSync(at('user'))).toEqual([])
    const off = await start({ caches: 'off' })
    expect((await off.run('npm install --offline --no-audit --no-fund ../lib-1.0.0.tgz')).stderr).toContain(
      at('user/.npm'),
    )
  })

  it.skipIf(!usable)('git commits in a linked worktree', async (test) => {
    mkdirSync(at('repo'))
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
        cwd,
        stdio: 'pipe',
        encoding: 'utf8',
      })
    git(at('repo'), 'init', '-q')
    git(at('repo'), 'commit', '-q', '--allow-empty', '-m', 'one')
    rmSync(at('w'), { recursive: true })
    git(at('repo'), 'worktree', 'add', '-q', '../w')
    const { run, report } = await start()
    if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
    const done = await run(
      'echo x > f && git add f && git -c user.name=t -c user.email=t@localhost commit -qm two && git branch side && git gc -q',
    )
    expect(done.exitCode, done.stderr).toBe(0)
    expect(git(at('w'), 'log', '--format=%s')).toBe('two\none\n')
    const planted = await run(
      `echo x > ${at('repo/.git/hooks/pre-commit')}; echo x >> ${at('repo/.git/config')}; echo x > ${at('repo/f')}`,
    )
    expect(existsSync(at('repo/f'))).toBe(false)
    if (rung === 'bwrap') {
      expect(existsSync(at('repo/.git/hooks/pre-commit'))).toBe(false)
      expect(planted.stderr).toMatch(/config: Read-only file system/)
    } else expect(planted.confined.notCovered).toContain(`"${at('repo/.git/hooks')}", which is protected`)
  })

  it.skipIf(!usable)('what a file tool put in /tmp is there, and what a command leaves there stays', async (test) => {
    const { run, report } = await start()
    if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
    const file = `/tmp/dsh-at-work-${process.pid}-${rung}`
    writeFileSync(file, 'echo from $0')
    try {
      expect((await run(`bash ${file}; echo more >> ${file}`)).stdout).toBe(`from ${file}\n`)
      expect(readFileSync(file, 'utf8')).toBe('echo from $0more\n')
      expect((await run(`cat ${file}; echo x > ${file}`, { mode: 'read-only' })).exitCode).not.toBe(0)
      expect(readFileSync(file, 'utf8')).toBe('echo from $0more\n')
    } finally {
      rmSync(file)
    }
  })

  it.skipIf(!usable)('a workspace that became a link is refused, whatever the link names', async (test) => {
    mkdirSync(at('p/w'), { recursive: true })
    const { run, report } = await start({}, { workspaceRoot: at('p/w') })
    if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
    const policy = { workspaceRoot: at('p/w'), cwd: '/' }
    expect((await run('echo x > "$OLDPWD/f" || true', policy)).ran).toBe(true)
    renameSync(at('p'), at('q'))
    mkdirSync(at('p'))
    symlinkSync('/etc', at('p/w'))
    await expect(run('true', policy)).rejects.toThrow(
      `the workspace "${at('p/w')}" now leads to "/etc"; refusing to run the command`,
    )
    rmSync(at('p/w'))
    await expect(run('true', policy)).rejects.toThrow('is not there any more')
  })

  it.skipIf(!usable)(
    'many quick commands leave nothing behind',
    async (test) => {
      const { run, report } = await start()
      if (report.rung === undefined) return test.skip(report.tried[0]?.detail)
      const count = process.env['DSH_LONG'] === undefined ? 40 : 1000
      await run('true')
      const seen = () => ({
        fds: readdirSync('/proc/self/fd').length,
        tmp: readdirSync('/tmp').filter((name) => name.startsWith('dsh-sandbox')).length,
        children: childrenOf(process.pid),
      })
      const before = seen()
      for (let done = 0; done < count; done += 8)
        await Promise.all(Array.from({ length: 8 }, () => run('sleep 60 & setsid sleep 60 & true')))
      await expect.poll(seen).toEqual(before)
    },
    120_000,
  )
})

describe.skipIf(!bwrap)('what only bubblewrap can do', () => {
  it('a fresh /tmp is empty in each call, one of the session lasts as long', async () => {
    const mark = `/tmp/dsh-mark-${process.pid}`
    const look = `ls ${mark} 2>/dev/null; echo x > ${mark}; echo "\${TMPDIR:-/tmp}"`
    const fresh = await sandbox({ rungs: ['bwrap'], tmp: 'fresh' })
    expect([(await fresh.run(look)).stdout, (await fresh.run(look)).stdout]).toEqual(['/tmp\n', '/tmp\n'])
    const session = await sandbox({ rungs: ['bwrap'], tmp: 'session' })
    const in1 = { sessionId: 'one' }
    expect([(await session.run(look, in1)).stdout, (await session.run(look, in1)).stdout]).toEqual([
      '/tmp\n',
      `${mark}\n/tmp\n`,
    ])
    expect((await session.run(look, { sessionId: 'two' })).stdout).toBe('/tmp\n')
    expect(existsSync(mark)).toBe(false)
    utimesSync(at('home/tmp/one'), 0, 0)
    await session.run('true', { sessionId: 'three' })
    expect(readdirSync(at('home/tmp')).sort()).toEqual(['three', 'two'])
  })

  it('a workdir that the sandbox hides is refused by name and never becomes another directory', async () => {
    const hidden = mkdtempSync('/tmp/dsh-hidden-')
    try {
      const { run } = await sandbox({ rungs: ['bwrap'], tmp: 'fresh' })
      await expect(run('pwd', { cwd: hidden })).rejects.toThrow(
        `workdir "${hidden}" is not available inside the sandbox`,
      )
    } finally {
      rmSync(hidden, { recursive: true })
    }
  })

  it('sockets are masked, those of the project and those that are allowed are not', async () => {
    mkdirSync(at('allowed'))
    const paths = [at('s'), at('w/s'), at('allowed/s')]
    const servers = await Promise.all(
      paths.map(
        (path) =>
          new Promise<net.Server>((resolve) => {
            const server = net.createServer((socket) => socket.end('open\n')).listen(path, () => resolve(server))
          }),
      ),
    )
    try {
      const { run } = await sandbox({ rungs: ['bwrap'], sockets: [at('allowed')] })
      const talk = (path: string) =>
        `"${process.execPath}" -e 'require("net").connect("${path}").on("data",(d)=>process.stdout.write(d)).on("error",(e)=>console.log(e.code))'`
      expect((await run(paths.map(talk).join('; '))).stdout).toBe('ECONNREFUSED\nopen\nopen\n')
    } finally {
      for (const server of servers) server.close()
    }
  })

  it('what denyRead lists cannot be opened', async () => {
    mkdirSync(at('user/.ssh'))
    writeFileSync(at('user/.ssh/id'), 'secret')
    writeFileSync(at('user/token'), 'secret')
    const { run } = await sandbox({ rungs: ['bwrap'] }, { denyRead: [at('user/.ssh'), at('user/token')] })
    const done = await run(`cat ${at('user/.ssh/id')}; cat ${at('user/token')}; ls -A ${at('user/.ssh')}`)
    expect(done.stdout).toBe('')
  })

  it('a protected path that does not exist yet makes the result partial', async () => {
    const { run } = await sandbox({ rungs: ['bwrap'] }, { protectedPaths: ['.envrc'] })
    expect((await run('true')).confined).toMatchObject({
      enforcement: 'partial',
      notCovered: [`"${at('w/.envrc')}", which does not exist yet`],
    })
    writeFileSync(at('w/.envrc'), '')
    const there = await run('echo x > .envrc')
    expect(there.confined).toMatchObject({ enforcement: 'full', notCovered: [] })
    expect(readFileSync(at('w/.envrc'), 'utf8')).toBe('')
  })

  it('a good verdict is remembered, a replaced runner is looked at again', async () => {
    await sandbox({ rungs: ['bwrap'] })
    const file = at('home/cache/sandbox-bwrap.json')
    const entry = JSON.parse(readFileSync(file, 'utf8')) as { key: string; holes: string[] }
    expect(entry.holes).toEqual([])
    writeFileSync(file, JSON.stringify({ ...entry, holes: ['from the file'] }))
    expect((await sandbox({ rungs: ['bwrap'] })).report.notCovered).toEqual(['from the file'])
    writeFileSync(file, JSON.stringify({ key: `${entry.key} of another runner`, holes: ['from the file'] }))
    expect((await sandbox({ rungs: ['bwrap'] })).report.notCovered).toEqual([])
    writeFileSync(file, 'no json')
    expect((await sandbox({ rungs: ['bwrap'] })).report.notCovered).toEqual([])
  })

  it('after the runner failed the machine is looked at again, whatever was remembered', async () => {
    const { run, ctx } = await sandbox({ rungs: ['bwrap'] })
    const file = at('home/cache/sandbox-bwrap.json')
    const entry = JSON.parse(readFileSync(file, 'utf8')) as { key: string }
    const { confined } = await run('true')
    writeFileSync(file, JSON.stringify({ key: entry.key, holes: ['stale'] }))
    confined.runnerFailed?.()
    expect((await ctx.sandbox.report()).notCovered).toEqual([])
  })
})

function childrenOf(pid: number): number {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((word) => word !== '').length
}
