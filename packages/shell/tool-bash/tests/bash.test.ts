import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@dsh/agent'
import * as bashLocal from '@dsh/bash-local'
import { createScope } from '@dsh/cordis'
import * as jobsLocal from '@dsh/jobs-local'
import * as session from '@dsh/session'
import * as shellEnv from '@dsh/shell-env'
import * as subprocess from '@dsh/subprocess-local'
import * as systemPrompt from '@dsh/system-prompt'
import { bootRows, type RowSpec, tempWorkspace } from '@dsh/testkit'
import * as toolJobs from '@dsh/tool-jobs'
import * as tools from '@dsh/tools'
import { describe, expect, it } from 'vitest'
import * as toolBash from '../src/index.ts'

const base: RowSpec[] = [systemPrompt, tools, subprocess, bashLocal, shellEnv, session].map((module) => ({ module }))
const jobRows: RowSpec[] = [{ module: jobsLocal }, { module: toolJobs }]

async function boot(rows: readonly RowSpec[] = [...base, { module: toolBash }, ...jobRows]) {
  const workspace = await tempWorkspace({ 'sub/keep': '' })
  const home = await tempWorkspace()
  const { ctx, dispose } = await bootRows(rows, { home: home.root })
  const scope = await createScope(ctx, {})
  const sent: string[] = []
  const agent = {
    id: 'a',
    status: 'running',
    ctx: scope.ctx,
    session: ctx.get('sessions')?.create({ id: 's1', cwd: workspace.root }),
    send: (message: { content: { text: string }[] }) => sent.push(message.content[0]?.text ?? ''),
  } as unknown as Agent
  let count = 0
  const call = async (name: string, args: object, signal = new AbortController().signal) => {
    const result = await ctx.get('tools')?.execute({
      callId: `c${++count}`,
      name,
      arguments: JSON.stringify(args),
      agent,
      signal,
    })
    const [block] = result?.content ?? []
    return { ...result, text: block?.type === 'text' ? block.text : '' }
  }
  const bash = (command: string, more: object = {}) => call('bash', { command, description: 'd', ...more })
  return { ctx, agent, workspace, home, call, bash, sent, dispose, scope }
}

describe('the bash tool', () => {
  it('refuses by name what no program can be given: a NUL byte, more than the system passes on', async () => {
    const { bash } = await boot()
    expect(await bash('echo a\0b')).toMatchObject({
      text: 'Error: invalid command: a command cannot contain a NUL byte',
      isError: true,
    })
    expect((await bash(`: ${'a'.repeat(131_069)}`)).text).toBe('(no output)')
    const { text, isError } = await bash(`: ${'é'.repeat(65_535)}`)
    expect(isError).toBe(true)
    expect(text).toMatch(/^Error: invalid command: 131072 bytes are more than the 131071 /)
    expect((await bash('pwd', { workdir: 'a\0b' })).text).toMatch(/^Error: workdir /)
  })

  it('gives output as it is, failures with their code, and no error result for either', async () => {
    const { bash } = await boot()
    expect(await bash('echo hi')).toMatchObject({ text: 'hi\n', isError: false })
    expect(await bash('true')).toMatchObject({ text: '(no output)' })
    expect(await bash('echo o; echo e >&2; exit 3')).toMatchObject({
      text: 'o\n[stderr]\ne\n[exit code: 3]',
      isError: false,
    })
  })

  it('carries the facts in meta, and the text only once', async () => {
    const { bash } = await boot()
    const { meta } = await bash('echo o; exit 3', { timeoutMs: 9_999_999 })
    expect(meta).toMatchObject({
      kind: 'foreground',
      exitCode: 3,
      timeoutMs: 600_000,
      timeoutClamped: true,
      stdout: { bytes: 2, truncated: false },
      arrivals: [['stdout', 2]],
    })
    expect(JSON.stringify(meta)).not.toContain('"text"')
  })

  it('runs in the session directory, follows it when it moves, and takes a workdir relative to it', async () => {
    const { bash, agent, workspace } = await boot()
    expect((await bash('pwd')).text).toBe(`${workspace.root}\n`)
    expect((await bash('pwd', { workdir: 'sub' })).text).toBe(`${workspace.root}/sub\n`)
    agent.session.append('session/cwd', { cwd: join(workspace.root, 'sub') }, { ignorable: true })
    expect((await bash('pwd')).text).toBe(`${workspace.root}/sub\n`)
    expect((await bash('pwd', { workdir: 'nope' })).text).toBe(
      `Error: workdir "${workspace.root}/sub/nope" does not exist`,
    )
  })

  it('tells the command about the session around it', async () => {
    const { bash, home } = await boot()
    expect((await bash('echo "$DSH_HOME $DSH_SHELL $DSH_SESSION_ID"')).text).toBe(`${home.root} 1 s1\n`)
  })

  it('refuses bad arguments by name and runs nothing', async () => {
    const { bash, workspace } = await boot()
    const made = () => existsSync(workspace.path('made'))
    expect((await bash('touch made', { description: ' ' })).text).toBe(
      'Error: invalid description: expected a non-empty string',
    )
    expect((await bash('touch made', { timeoutMs: -1 })).text).toBe(
      'Error: invalid timeoutMs: expected a positive number, got -1',
    )
    expect((await bash('touch made', { timeoutMs: '5' })).text).toBe(
      'Error: invalid arguments: "timeoutMs" must be a number',
    )
    expect((await bash('touch made', { sandbox_permissions: 'danger-full-access', justification: 'x' })).text).toBe(
      'Error: sandbox_permissions is not available in this composition (no sandboxing executor to escalate)',
    )
    expect(made()).toBe(false)
    expect((await bash('touch made', { timeoutMs: null, workdir: null, extra: 1 })).text).toBe('(no output)')
    expect(made()).toBe(true)
  })

  it('is one error result when the turn is aborted, and leaves no process', async () => {
    const { call } = await boot()
    const controller = new AbortController()
    const running = call('bash', { command: 'sleep 30.25', description: 'd' }, controller.signal)
    setTimeout(() => controller.abort(), 200)
    expect(await running).toMatchObject({
      text: 'Error: tool call aborted',
      isError: true,
      error: { name: 'AbortError', code: 'ABORTED' },
    })
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toMatch(/^sleep 30\.25/m)
  })

  it('speaks of background jobs only while an agent could follow one', async () => {
    const description = (ctx: Awaited<ReturnType<typeof boot>>['ctx']) =>
      ctx
        .get('tools')
        ?.schemas()
        .find((tool) => tool.name === 'bash')?.description.length
    expect(description((await boot()).ctx)).toBe(825)
    const without = await boot([...base, { module: toolBash }])
    expect(description(without.ctx)).toBe(666)
    expect((await without.bash('touch made', { run_in_background: true })).text).toMatch(
      /^Error: background jobs unavailable: load /,
    )
    const off = await boot([...base, { module: toolBash, config: { enableRunInBackground: false } }, ...jobRows])
    expect(description(off.ctx)).toBe(666)
    expect((await off.bash('touch made', { run_in_background: true })).text).toBe(
      'Error: run_in_background is disabled for this deployment (enableRunInBackground: false)',
    )
    expect(
      (await boot([...base, { module: toolBash }, { module: jobsLocal }])).ctx.get('tools')?.get('bash')?.description,
    ).toHaveLength(666)
  })

  it('gives its guidance while it is visible', async () => {
    const { ctx, agent } = await boot()
    const prompt = () => ctx.get('systemPrompt')?.assemble(agent, {}) ?? ''
    expect(prompt()).toContain(
      'Check the [exit code: N] marker on every bash result; investigate failures before moving on.',
    )
    expect(prompt().indexOf('Track every background job id')).toBeGreaterThan(prompt().indexOf('Check the [exit'))
  })
})

describe('a background command', () => {
  it('is started, listed, read once, and reported with its exit code', async () => {
    const { bash, call } = await boot()
    expect((await call('job_list', {})).text).toBe('(no background jobs)')
    expect((await bash('sleep 0.2; echo x; echo e >&2; exit 4', { run_in_background: true })).text).toBe(
      'started background job bash-1',
    )
    expect((await call('job_list', {})).text).toBe('bash-1 [bash] running — sleep 0.2; echo x; echo e >&2; exit 4')
    const read = () => call('job_output', { job_id: 'bash-1', wait: true })
    expect((await read()).text).toBe('x\n[stderr]\ne\n[status: completed, exit code: 4]')
    expect((await read()).text).toBe('(no new output)\n[status: completed, exit code: 4]')
  })

  it('can be waited for in vain, killed, and does not announce a death that was asked for', async () => {
    const { bash, call, sent } = await boot()
    await bash('sleep 44.5', { run_in_background: true })
    expect((await call('job_output', { job_id: 'bash-1', wait: true, timeout_ms: 100 })).text).toBe(
      '(no new output)\n[status: running]',
    )
    expect((await call('job_kill', { job_id: 'bash-1' })).text).toBe('requested cancellation of job bash-1')
    expect((await call('job_output', { job_id: 'bash-1', wait: true })).text).toBe(
      '(no new output)\n[status: killed, signal: SIGTERM]',
    )
    expect((await call('job_kill', { job_id: 'bash-1' })).text).toBe(
      'job bash-1 had already finished [status: killed, signal: SIGTERM]',
    )
    expect(sent).toEqual([])
  })

  it('announces its end to a busy agent when nobody was told', async () => {
    const { bash, sent, ctx, agent } = await boot()
    await bash('echo quiet\ntrue', { run_in_background: true })
    await ctx.get('jobs')?.settled(agent, { timeoutMs: 5000 })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(sent).toEqual([
      'background job bash-1 (bash: echo quiet …) finished [status: completed, exit code: 0]. Read its output with job_output.',
    ])
  })

  it('is ended with its agent', async () => {
    const { bash, agent, ctx, scope } = await boot()
    await bash('sleep 45.5', { run_in_background: true })
    const started = performance.now()
    await scope.dispose()
    expect(ctx.get('jobs')?.list(agent)).toEqual([])
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('counts on from the ids that the session has seen', async () => {
    const { bash, agent } = await boot()
    const text = 'started background job bash-7'
    agent.session.append('turn/start', { turn: 1 })
    agent.session.append('step/start', { turn: 1, step: 1 })
    agent.session.append(
      'tool/result',
      {
        turn: 1,
        step: 1,
        message: {
          source: { kind: 'tool', callId: 'x' },
          content: [{ type: 'tool-result', toolCallId: 'x', content: [{ type: 'text', text }], isError: false }],
          role: 'user',
          id: 'm1',
        },
      } as never,
      { surfaceOp: 'append' },
    )
    expect((await bash('true', { run_in_background: true })).text).toBe('started background job bash-8')
  })

  it('is refused at the limit, and by ids that are empty, unknown or foreign', async () => {
    const { bash, call } = await boot([
      ...base,
      { module: toolBash },
      { module: jobsLocal, config: { maxPerOwner: 1 } },
      { module: toolJobs },
    ])
    await bash('sleep 46.5', { run_in_background: true })
    expect((await bash('touch made', { run_in_background: true })).text).toBe(
      'Error: background job limit reached for this owner (limit: 1); use job_kill to stop an unneeded job, wait for it to finish, then retry',
    )
    expect((await call('job_output', { job_id: '' })).text).toBe(
      'Error: invalid job_id: expected a non-empty string, got ""',
    )
    expect((await call('job_output', { job_id: 'zz' })).text).toBe('Error: unknown job zz')
    expect((await call('job_output', { job_id: 'bash-1', wait: true, timeout_ms: 0 })).text).toBe(
      'Error: invalid wait timeout: expected a positive number of milliseconds, got 0',
    )
  })
})
