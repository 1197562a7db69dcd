import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@dsh/agent'
import { createScope } from '@dsh/cordis'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import * as session from '@dsh/session'
import * as shellEnv from '@dsh/shell-env'
import * as subprocess from '@dsh/subprocess-local'
import * as systemPrompt from '@dsh/system-prompt'
import { bootRows, has, tempWorkspace } from '@dsh/testkit'
import * as tools from '@dsh/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as persistent from '../src/index.ts'
import { resetLine, waitingLine } from '../src/words.ts'

async function boot(mode: string, config: object = {}, sandboxConfig: object = {}) {
  const workspace = await tempWorkspace({ 'sub/keep': '' })
  // Not below a temporary directory: commands may change those, so no launcher is trusted there.
  const home = realpathSync(mkdtempSync('/var/tmp/dsh-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const { ctx, dispose } = await bootRows(
    [
      { module: systemPrompt },
      { module: tools },
      { module: session },
      { module: subprocess },
      { module: sandboxLocal, config: sandboxConfig },
      { module: sandboxPolicy, config: { mode, workspaceRoot: workspace.root } },
      { module: shellEnv },
      { module: persistent, config },
    ],
    { home },
  )
  const scope = await createScope(ctx, {})
  const agent = {
    ctx: scope.ctx,
    session: ctx.get('sessions')?.create({ cwd: workspace.root }),
  } as unknown as Agent
  const run = async (command: string, signal = new AbortController().signal) => {
    const result = await ctx.get('tools')?.execute({
      callId: 'c',
      name: 'bash',
      arguments: JSON.stringify({ command }),
      agent,
      signal,
    })
    const [block] = result?.content ?? []
    return block?.type === 'text' ? block.text : ''
  }
  return { ctx, run, agent, scope, workspace, home, dispose }
}
const processes = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })

const places = [
  { where: 'full access', mode: 'danger-full-access', rung: 'bwrap' },
  { where: 'a workspace under bwrap', mode: 'workspace-write', rung: 'bwrap' },
  { where: 'a workspace under landlock', mode: 'workspace-write', rung: 'landlock' },
]
for (const { where, mode, rung } of places) {
  const here = (config: object = {}) => boot(mode, config, { rungs: [rung] })
  const lacking = mode !== 'danger-full-access' && rung === 'bwrap' && !has('bubblewrap')
  describe.skipIf(lacking)(`a persistent bash in ${where}`, () => {
    it('keeps directory, variables, functions and aliases from call to call', async () => {
      const { run, workspace } = await here()
      expect(await run('pwd')).toBe(`${workspace.root}\n`)
      expect(await run('cd sub; x=1; export y=2; f() { echo "f$1"; }; alias hi="echo hello"')).toBe('(no output)')
      expect(await run('pwd; echo "$x$y"; f 3; hi')).toBe(`${workspace.root}/sub\n12\nf3\nhello\n`)
    })

    it('runs commands of any length and shape', async () => {
      const { run } = await here()
      expect(await run('for i in 1 2\ndo\n\techo "$i"\ndone\ncat <<EOF\n  a\tb $((1+1))\nEOF')).toBe('1\n2\n  a\tb 2\n')
      const long = 'x'.repeat(100_000)
      expect(await run(`v='${long}'; echo \${#v}`)).toBe('100000\n')
      expect(await run("echo 'añ漢😀'")).toBe('añ漢😀\n')
      expect(await run('test -t 1 && test -t 0 && echo terminal')).toBe('terminal\n')
    })

    it('reports exit codes on the last line, and survives what fails', async () => {
      const { run } = await here()
      expect(await run('echo a; false')).toBe('a\n[exit code: 1]')
      expect(await run('no-such-program')).toMatch(/no-such-program: command not found\n\[exit code: 127\]$/)
      expect(await run('if')).toMatch(/syntax error.*\n\[exit code: 2\]$/)
      expect(await run('kill -9 $BASHPID & wait $!; echo $?')).toContain('137\n')
    })

    it('comes back from a program that asks, and types the next call into it', async () => {
      const { run } = await here()
      expect(await run('read -p "name? " n; echo "got $n"')).toBe(`name? \n${waitingLine}`)
      expect(await run('bob')).toBe('got bob\n')
      expect(await run('cat')).toBe(waitingLine)
      expect(await run('^D')).toBe('(no output)')
      expect(await run('cat; echo after')).toBe(waitingLine)
      expect(await run('^C')).toMatch(/after\n$/)
    })

    it('starts over after an exit, and says so', async () => {
      const { run, workspace } = await here()
      await run('cd sub; x=1')
      expect(await run('echo bye; exit 4')).toBe(`bye\n[shell exited: code 4]\n${resetLine}`)
      expect(await run('pwd; echo "$x."')).toBe(`${workspace.root}\n.\n`)
    })

    it('ends a command that takes too long, with everything it started', async () => {
      const { run, workspace } = await here({ timeoutMs: 700 })
      await run('cd sub')
      expect(await run('echo begun; sleep 71.25')).toBe(
        `Your command timed out after 0.7 seconds or experienced an OOM error. Below is partial output:\nbegun\n${resetLine}`,
      )
      expect(processes()).not.toMatch(/^sleep 71\.25/m)
      expect(await run('pwd')).toBe(`${workspace.root}\n`)
    })

    it('keeps the head of long output', async () => {
      const { run } = await here()
      const text = await run('seq 1 200000')
      expect(text.startsWith('1\n2\n3\n')).toBe(true)
      expect(text).toMatch(/<response clipped><NOTE>.*<\/NOTE>$/)
      expect(text.length).toBeLessThan(16_400)
      expect(await run('echo next')).toBe('next\n')
    })

    it('ends with its agent, its background work too, and leaves no file', async () => {
      const { run, scope, home } = await here()
      await run('sleep 72.25 & echo started')
      expect(processes()).toMatch(/sleep 72\.25/)
      await scope.dispose()
      await sleep(50)
      expect(processes()).not.toMatch(/^sleep 72\.25/m)
      expect(readdirSync(join(home, 'spill', 'shells'))).toEqual([])
    })

    it('is ended by an abort, and the next call is told', async () => {
      const { run } = await here()
      const controller = new AbortController()
      const call = run('sleep 73.25', controller.signal)
      await sleep(700)
      controller.abort()
      expect(await call).toBe('Error: tool call aborted')
      expect(await run('echo fresh')).toBe(
        '[the last call was aborted and its shell ended: this is a fresh shell in the workspace]\nfresh\n',
      )
      expect(processes()).not.toMatch(/^sleep 73\.25/m)
    })
  })
}

it('leaves nothing in a session of its own when the program ends', async () => {
  const { run, dispose } = await boot('danger-full-access')
  await run('setsid -f sleep 74.25')
  expect(processes()).toMatch(/^sleep 74\.25/m)
  await dispose()
  expect(processes()).not.toMatch(/^sleep 74\.25/m)
})

describe.skipIf(!has('bubblewrap'))('a confined persistent bash', () => {
  it('cannot write outside the workspace', async () => {
    const { run } = await boot('workspace-write')
    const target = join(homedir(), `dsh-persistent-${process.pid}`)
    expect(await run(`echo a > ${target}`)).toMatch(/Read-only file system\n\[exit code: 1\]$/)
    expect(existsSync(target)).toBe(false)
    expect(await run('echo a > f; cat f')).toBe('a\n')
  })

  it('gets a new shell when the policy changes, and says so', async () => {
    const { run, agent } = await boot('workspace-write')
    await run('x=1')
    agent.session.append('sandbox/mode', { mode: 'read-only' })
    expect(await run('echo "$x."; echo a > f')).toMatch(
      /^\[the sandbox policy changed from workspace-write to read-only: this is a fresh shell in the workspace\]\n\.\n.*Read-only file system\n\[exit code: 1\]$/,
    )
  })
})

it('is refused where no rung is usable', async () => {
  const { run, workspace } = await boot('workspace-write', {}, { rungs: [] })
  expect(await run('touch made')).toMatch(/^Error: sandbox mode "workspace-write" is requested but no sandbox backend/)
  expect(existsSync(workspace.path('made'))).toBe(false)
})

it('wants a command and an agent', async () => {
  const { run, ctx } = await boot('danger-full-access')
  expect(await run(' ')).toBe('Error: command must be a non-empty string')
  const signal = new AbortController().signal
  const result = await ctx.get('tools')?.execute({ callId: 'c', name: 'bash', arguments: '{"command":"x"}', signal })
  expect(result?.content).toEqual([{ type: 'text', text: 'Error: bash requires an owning agent session' }])
})

it('no program that lies on PATH inside the workspace is run to open a shell', async () => {
  const { run, workspace } = await boot('danger-full-access')
  const planted = `#!/bin/sh\ntouch "${workspace.root}/planted"\nexec /usr/bin/mkfifo "$@"\n`
  for (const program of ['mkfifo', 'bash'])
    await workspace.write(`node_modules/.bin/${program}`, { text: planted, mode: 0o755 })
  const before = process.env['PATH']
  onTestFinished(() => {
    process.env['PATH'] = before
  })
  process.env['PATH'] = `${workspace.path('node_modules/.bin')}:${before}`
  expect(await run('echo up')).toContain('up')
  expect(await workspace.exists('planted')).toBe(false)
})
