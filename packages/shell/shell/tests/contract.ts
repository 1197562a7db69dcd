import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxPolicy } from '@dsh/sandbox'
import type { ShellRequest, ShellService } from '@dsh/shell'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface ShellUnderTest {
  readonly shell: ShellService
  readonly policy: (root: string) => SandboxPolicy
  dispose(): Promise<void>
}

/** What every executor promises, whatever stands between it and the command. */
export function shellContract(executor: string, make: (home: string) => Promise<ShellUnderTest>): void {
  describe(`a command through ${executor}`, () => {
    const home = realpathSync(mkdtempSync('/var/tmp/dsh-shell-home-'))
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-shell-')))
    let under: ShellUnderTest
    beforeAll(async () => {
      under = await make(home)
      mkdirSync(join(root, 'sub'))
      writeFileSync(join(root, 'file'), '')
    })
    afterAll(async () => {
      await under.dispose()
      rmSync(home, { recursive: true, force: true })
      rmSync(root, { recursive: true, force: true })
    })

    const resolve = (command: string, more: Partial<ShellRequest> = {}) =>
      under.shell.resolve({ command, policy: under.policy(root), ...more })
    const run = async (command: string, more: Partial<ShellRequest> = {}) =>
      under.shell.run(await resolve(command, more))

    it('reports streams, exit code and time as independent facts', async () => {
      expect(await run('echo o; echo e >&2; exit 7')).toMatchObject({
        exitCode: 7,
        signal: null,
        timedOut: false,
        aborted: false,
        timeoutClamped: false,
        stdout: { text: 'o\n' },
        stderr: { text: 'e\n' },
      })
    })

    it('starts in the workspace, or in the workdir relative to the base', async () => {
      expect((await run('pwd')).stdout.text).toBe(`${root}\n`)
      expect((await run('pwd', { workdir: 'sub' })).stdout.text).toBe(`${root}/sub\n`)
      expect((await run('pwd', { workdir: '..', base: join(root, 'sub') })).stdout.text).toBe(`${root}\n`)
    })

    it('refuses a workdir that is absent or no directory, by name', async () => {
      await expect(resolve('pwd', { workdir: '/no-such-dir/deeper' })).rejects.toThrow(
        'workdir "/no-such-dir/deeper" does not exist',
      )
      await expect(resolve('pwd', { workdir: 'file' })).rejects.toThrow(`workdir "${root}/file" is not a directory`)
      await expect(resolve('pwd', { workdir: 'file/x' })).rejects.toThrow(`workdir "${root}/file/x" is not a directory`)
    })

    it('takes time limits from the call, up to the maximum', async () => {
      expect(await resolve('x')).toMatchObject({ timeoutMs: 120_000, timeoutClamped: false })
      expect(await resolve('x', { timeoutMs: 5 })).toMatchObject({ timeoutMs: 5, timeoutClamped: false })
      expect(await resolve('x', { timeoutMs: 9_999_999 })).toMatchObject({ timeoutMs: 600_000, timeoutClamped: true })
    })

    it('has no input, no colours and no pager', async () => {
      const { stdout } = await run('cat; echo "$NO_COLOR $TERM $PAGER $GIT_PAGER $EXTRA"', { env: { EXTRA: 'more' } })
      expect(stdout.text).toBe('1 dumb cat cat more\n')
    })

    it('can open its own output again by name', async () => {
      expect(await run('echo e > /dev/stderr; echo o > /dev/stdout')).toMatchObject({
        exitCode: 0,
        stdout: { text: 'o\n' },
        stderr: { text: 'e\n' },
      })
    })

    it('calls itself bash in its messages', async () => {
      const { stderr } = await run('echo "$0 $#" >&2; no-such-program')
      expect(stderr.text).toBe('bash 0\nbash: line 1: no-such-program: command not found\n')
    })

    it('keeps nothing from one call to the next', async () => {
      await run('cd /; x=1; export y=2')
      expect((await run('pwd; echo "$x$y"')).stdout.text).toBe(`${root}\n\n`)
    })

    it('ends at its deadline, with what it said until then', async () => {
      const outcome = await run('echo begun; sleep 20', { timeoutMs: 1500 })
      expect(outcome).toMatchObject({ timedOut: true, signal: 'SIGTERM', exitCode: null, stdout: { text: 'begun\n' } })
      expect(outcome.durationMs).toBeLessThan(8000)
    })

    it('lets the command clean up when its time is over', async () => {
      const outcome = await run("trap 'echo cleaned; exit 0' TERM; sleep 60 & wait", { timeoutMs: 1500 })
      expect(outcome).toMatchObject({ timedOut: true, signal: null, exitCode: 0, stdout: { text: 'cleaned\n' } })
    })

    it('ends when the caller aborts, and does not start once it has', async () => {
      const controller = new AbortController()
      const running = run('echo begun; sleep 20', {
        signal: controller.signal,
        onData: () => controller.abort(new Error('enough')),
      })
      expect(await running).toMatchObject({ aborted: true, timedOut: false, stdout: { text: 'begun\n' } })
      await expect(run('touch never', { signal: controller.signal })).rejects.toThrow('aborted before spawn: enough')
    })

    it('names the signal of a violent death', async () => {
      expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      expect(await run('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    })

    it('keeps exit codes that are no signal', async () => {
      for (const code of [1, 127, 128, 200, 255]) {
        expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, signal: null })
      }
    })

    it('is not held up by what it leaves in the background', async () => {
      const outcome = await run('sleep 33.125 & echo done')
      expect(outcome.stdout.text).toBe('done\n')
      expect(outcome.durationMs).toBeLessThan(8000)
    })

    it('keeps the tail of long output, and all of it in a file below the home', async () => {
      const { stdout } = await run('seq 1 20000')
      expect(stdout).toMatchObject({ truncated: true, bytes: 108_894 })
      expect(stdout.text.endsWith('\n20000\n')).toBe(true)
      expect(stdout.spillPath?.startsWith(join(home, 'spill'))).toBe(true)
      expect(readFileSync(stdout.spillPath as string, 'utf8').split('\n')).toHaveLength(20_001)
      expect((await run(`wc -l < "${stdout.spillPath}"`)).stdout.text).toBe('20000\n')
    })

    it('records how the two streams were interleaved', async () => {
      const { arrivals } = await run('echo a; sleep .3; echo bb >&2; sleep .3; echo c')
      expect(arrivals).toEqual([
        ['stdout', 2],
        ['stderr', 3],
        ['stdout', 2],
      ])
    })

    it('runs in the background until it is killed or done', async () => {
      const job = await under.shell.start(await resolve('echo ready; sleep 60'))
      let seen = ''
      while (!seen.includes('ready')) {
        seen += job.readOutput().stdout
        await sleep(10)
      }
      job.kill()
      expect(await job.done).toMatchObject({ signal: 'SIGTERM', exitCode: null })
      const quick = await under.shell.start(await resolve('echo x; exit 4'))
      expect(await quick.done).toMatchObject({ exitCode: 4, signal: null })
      expect(quick.readOutput()).toMatchObject({ stdout: 'x\n', stderr: '', dropped: false })
    })
  })
}
