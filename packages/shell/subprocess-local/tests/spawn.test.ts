import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SpawnSpec } from '@dsh/subprocess'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { OwnedGroups } from '../src/owned-groups.ts'
import { PipePool } from '../src/pipe-pool.ts'
import { listProcesses } from '../src/process-table.ts'
import { spawnProcess } from '../src/spawn.ts'

const dir = mkdtempSync(join(tmpdir(), 'dsh-spawn-'))
const owned = new OwnedGroups()
const pools = {
  pipes: new PipePool(['/usr/bin/mkfifo', '/bin/mkfifo'].find((path) => existsSync(path))),
  sockets: new PipePool(undefined),
}
let pool = pools.pipes
afterAll(async () => {
  await owned.terminateAll()
  await pools.pipes.close()
  rmSync(dir, { recursive: true, force: true })
})

const run = (command: string, more: Partial<SpawnSpec> = {}) =>
  spawnProcess(
    {
      argv: ['/bin/bash', '-c', command],
      cwd: dir,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      maxOutputBytes: 64_000,
      maxSpillBytes: 1_000_000,
      graceMs: 3000,
      ...more,
    },
    owned,
    pool,
  )

const running = (args: string) =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').includes(args)
    } catch {
      return false
    }
  })

describe.each(['pipes', 'sockets'] as const)('a spawned process over %s', (kind) => {
  beforeAll(() => {
    pool = pools[kind]
  })

  it('reads what came while this process was busy before it gives up on a holder of the pipe', async () => {
    const written = join(dir, `written-${kind}`)
    let blocked = false
    const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    const busy = () => {
      while (!existsSync(written)) pause(10)
      pause(200)
    }
    const onData = () => {
      if (blocked) return
      blocked = true
      setTimeout(() => setImmediate(busy), 30)
    }
    const late = `(sleep .15; echo late; touch ${written}; sleep 2.0625) & echo now`
    const settled = await (await run(late, { onData })).done
    expect(settled.stdout.text).toBe('now\nlate\n')
  })

  it('settles with independent facts about both streams and its end', async () => {
    const settled = await (await run('echo out; echo err >&2; exit 3')).done
    expect(settled).toMatchObject({ exitCode: 3, signal: null })
    expect(settled.stdout).toEqual({ text: 'out\n', bytes: 4, truncated: false })
    expect(settled.stderr.text).toBe('err\n')
  })

  it('reads /dev/null unless input is given', async () => {
    expect((await (await run('cat; echo end')).done).stdout.text).toBe('end\n')
    expect((await (await run('cat', { stdin: 'given' })).done).stdout.text).toBe('given')
  })

  it('survives a child that does not read its input', async () => {
    const settled = await (await run('exec 0<&-; echo deaf', { stdin: 'x'.repeat(500_000) })).done
    expect(settled.stdout.text).toBe('deaf\n')
  })

  it('rejects with the system error when the program is missing', async () => {
    await expect(run('', { argv: ['/no/such/program'] })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('collects what is written to the status descriptor', async () => {
    const settled = await (await run('echo state >&5; echo out', { statusFd: 5 })).done
    expect(settled.status).toBe('state\n')
    expect(settled.stdout.text).toBe('out\n')
  })

  it('keeps the tail in memory and everything in a private file', async () => {
    const captureDir = join(dir, 'captures')
    const settled = await (await run('seq 1 20000', { captureDir })).done
    expect(settled.stdout).toMatchObject({ bytes: 108_894, truncated: true })
    expect(Buffer.byteLength(settled.stdout.text)).toBe(64_000)
    expect(settled.stdout.text.endsWith('19999\n20000\n')).toBe(true)
    const path = settled.stdout.spillPath as string
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(20_001)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(captureDir).mode & 0o777).toBe(0o700)
  })

  it('gives up a capture that grows past its cap, and leaves no file', async () => {
    const captureDir = join(dir, 'capped')
    const settled = await (await run('yes | head -c 3000000', { captureDir })).done
    expect(settled.stdout).toMatchObject({ bytes: 3_000_000, truncated: true })
    expect(settled.stdout.spillPath).toBeUndefined()
    expect(readdirSync(captureDir)).toEqual([])
  })

  it('is not delayed by a descendant that holds the pipes, which then lives on until the owner ends', async () => {
    const started = performance.now()
    const settled = await (await run('(sleep 61.25; echo late) & echo done')).done
    expect(settled.stdout.text).toBe('done\n')
    expect(performance.now() - started).toBeLessThan(6000)
    expect(running('sleep 61.25')).toBe(true)
    await owned.terminateAll()
    await sleep(50)
    expect(running('sleep 61.25')).toBe(false)
  })

  it('ends what left its group when the owner ends, where it was told to', async () => {
    await (await run('setsid -f sleep 63.25; setsid -f sleep 63.75', { endDetached: true })).done
    const stays = Number((await (await run('setsid sleep 64.25 > /dev/null 2>&1 & echo $!')).done).stdout.text)
    await sleep(100)
    expect(running('sleep 63.25')).toBe(true)
    await owned.terminateAll()
    expect([running('sleep 63.25'), running('sleep 63.75'), running('sleep 64.25')]).toEqual([false, false, true])
    process.kill(stays, 'SIGKILL')
  })

  it('is not held for ever by a descendant that keeps talking', async () => {
    const started = performance.now()
    const settled = await (await run('(while :; do echo x; sleep .05; done) & sleep .2; echo fg')).done
    expect(settled.stdout.text).toContain('fg\n')
    expect(performance.now() - started).toBeLessThan(8000)
    await owned.terminateAll()
  })

  it('lets a command clean up on TERM', async () => {
    const child = await run("trap 'echo cleaned; exit 0' TERM; echo ready; sleep 60 & wait")
    while (child.readDelta().stdout !== 'ready\n') await sleep(10)
    await child.terminate()
    expect(await child.done).toMatchObject({ exitCode: 0, signal: null, stdout: { text: 'ready\ncleaned\n' } })
  })

  it('kills what ignores TERM after the grace, children in another session included', async () => {
    const child = await run("trap '' TERM; setsid sleep 62.25 & echo ready; while :; do sleep .1; done", {
      graceMs: 300,
    })
    while (child.readDelta().stdout !== 'ready\n') await sleep(10)
    await child.terminate()
    expect(await child.done).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect(running('sleep 62.25')).toBe(false)
  })

  it('leaves no process and no descriptor behind after many quick commands', async () => {
    for (let i = 0; i < 10; i++) await (await run('true')).done
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    for (let i = 0; i < 64; i++) await (await run('true')).done
    await run('', { argv: ['/no/such/program'] }).catch(() => {})
    await sleep(100)
    expect(descriptors()).toBeLessThan(before + 40)
    const children = listProcesses().filter((entry) => entry.parent === process.pid)
    expect(children.filter((entry) => entry.zombie)).toEqual([])
    await vi.waitFor(() => {
      expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`dsh-pipes-${process.pid}-`))).toEqual([])
    })
  })

  it('reports output as it arrives, once', async () => {
    const chunks: string[] = []
    const child = await run('echo a; echo b >&2', {
      onData: (stream, chunk) => chunks.push(`${stream}:${Buffer.from(chunk)}`),
    })
    await child.done
    expect(chunks.sort()).toEqual(['stderr:b\n', 'stdout:a\n'])
    expect(child.readDelta()).toMatchObject({ stdout: 'a\n', stderr: 'b\n', dropped: false })
    expect(child.readDelta()).toMatchObject({ stdout: '', stderr: '', dropped: false })
    expect(existsSync(join(dir, 'undefined'))).toBe(false)
  })
})

it('lets a command open its own output again, over pipes', async () => {
  pool = pools.pipes
  const settled = await (await run('echo a > /dev/stderr; echo b | tee /dev/stderr > /dev/stdout')).done
  expect(settled.stderr.text).toBe('a\nb\n')
  expect(settled.stdout.text).toBe('b\n')
})
