import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as agentRow from '@dsh/agent'
import * as agentLoop from '@dsh/agent-loop'
import * as bashSandbox from '@dsh/bash-sandbox'
import * as commands from '@dsh/commands'
import type { Context } from '@dsh/cordis'
import * as observation from '@dsh/fs-observation-policy'
import * as fsSandbox from '@dsh/fs-sandbox'
import * as llm from '@dsh/llm'
import * as permission from '@dsh/permission-presets'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import type { Session, SessionEvent, SessionEventOf, SessionEventType } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import * as shellEnv from '@dsh/shell-env'
import * as subprocess from '@dsh/subprocess-local'
import * as systemPrompt from '@dsh/system-prompt'
import { bootRows, call, has, type RowSpec, say, scriptedModel } from '@dsh/testkit'
import * as toolBash from '@dsh/tool-bash'
import * as toolFs from '@dsh/tool-fs'
import * as tools from '@dsh/tools'
import type { ApprovalAnswer, ApprovalRequest } from '@dsh/user-approval'
import * as approval from '@dsh/user-approval'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** The nine fail-closed canaries of the permissions guide, in its order, and its negative control. */

type Reply = ReturnType<typeof call>
interface Setup {
  readonly mode?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly sandbox?: object
  readonly prepare?: (ctx: Context, agent: agentRow.Agent) => void
  readonly answer?: (request: ApprovalRequest) => Promise<ApprovalAnswer> | ApprovalAnswer
}

let base: string
let workspace: string
beforeEach(() => {
  // Beside the temporary directories: what is outside the workspace is outside.
  base = realpathSync(mkdtempSync('/var/tmp/dsh-canary-'))
  workspace = join(base, 'w')
  mkdirSync(workspace)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** Plays one turn of scripted calls on the rows of the base bundle that decide over permissions. */
async function play(
  replies: readonly Reply[],
  { mode = 'workspace-write', sandbox = {}, prepare, answer }: Setup = {},
) {
  const asked: ApprovalRequest[] = []
  const answerer = {
    name: 'answerer',
    apply: async (ctx: Context) => {
      ctx.on('approval/request', async (request) => {
        asked.push(request)
        return await (answer as NonNullable<typeof answer>)(request)
      })
    },
  }
  const model = scriptedModel([...replies, say('done')])
  const presets = {
    'read-only': { sandbox: 'read-only', approval: 'ask' },
    'workspace-write': { sandbox: 'workspace-write', approval: 'ask' },
    'danger-full-access': { sandbox: 'danger-full-access', approval: 'never' },
  }
  const rows: RowSpec[] = [
    { module: llm },
    { module: model.row },
    { module: sessionRow },
    { module: systemPrompt },
    { module: agentRow },
    { module: agentLoop },
    { module: tools },
    { module: sandboxLocal, config: sandbox },
    { module: sandboxPolicy, config: { mode, workspaceRoot: workspace } },
    { module: approval, config: { policy: mode === 'danger-full-access' ? 'never' : 'ask' } },
    { module: permission, config: { presets } },
    { module: commands },
    { module: fsSandbox },
    { module: observation },
    { module: toolFs },
    { module: subprocess },
    { module: bashSandbox },
    { module: shellEnv },
    { module: toolBash, config: { enableRunInBackground: false } },
    ...(answer === undefined ? [] : [{ module: answerer }]),
  ]
  const { ctx } = await bootRows(rows, { home: join(base, 'home') })
  const agent = await ctx.agents.create({ cwd: workspace, provider: 'scripted', model: 'm' })
  prepare?.(ctx, agent)
  agent.followup('go')
  await agent.whenIdle()
  const results = eventsOf(agent.session, 'tool/result').map(({ data }) => ({
    text: data.message.content
      .flatMap((block) => (block.type === 'tool-result' ? block.content : []))
      .map((block) => (block.type === 'text' ? block.text : ''))
      .join(''),
    error: data.error,
    meta: data.meta as { sandbox?: { enforcement?: string; notCovered?: string[]; rung?: string } } | undefined,
  }))
  return { ctx, agent, session: agent.session, results, asked, model }
}

function eventsOf<T extends SessionEventType>(session: Session, type: T): SessionEventOf<T>[] {
  return session.events.filter((event): event is SessionEvent & SessionEventOf<T> => event.type === type)
}

const throws: Setup['answer'] = () => {
  throw new Error('gone')
}
const answersNonsense: Setup['answer'] = () => 'yes' as ApprovalAnswer
const rejects: Setup['answer'] = () => 'rejected'

const bash = (command: string, more: object = {}) => call('bash', { command, description: 'd', ...more })
const write = (file_path: string, content = 'x') => call('write', { file_path, content })
const wider = { sandbox_permissions: 'danger-full-access', justification: 'the report goes beside the workspace' }
const denied = (mode: string) => `[sandbox: file access denied under ${mode} mode]`

describe.skipIf(!has('bubblewrap'))('the nine canaries', () => {
  it('1. preset projection: a new session reports workspace-write and ask, and so do the knobs', async () => {
    const { ctx, session } = await play([])
    expect(ctx.permissionPresets.current(session)).toBe('workspace-write')
    expect(eventsOf(session, 'permission/preset').map(({ data }) => data.preset)).toEqual(['workspace-write'])
    expect(ctx.sandboxPolicy.resolve({ session }).mode).toBe('workspace-write')
    expect(ctx.approval.policyOf(session)).toBe('ask')
    const told = session
      .deriveMessages()
      .flatMap(({ content }) => content)
      .map((block) => (block.type === 'text' ? block.text : ''))
    expect(told.join('\n')).toContain('Current DSH file policy: workspace-write.')
  })

  it('2. one-shot approval: an allowed call runs, one matched audit pair is logged, the next call is confined again', async () => {
    const command = `echo x > ${base}/report`
    const { session, results, asked } = await play([bash(command, wider), bash(`${command}2`)], {
      answer: () => 'allowed-once',
    })
    expect(readFileSync(join(base, 'report'), 'utf8')).toBe('x\n')
    expect(existsSync(join(base, 'report2'))).toBe(false)
    expect(results[0]?.text).toBe('(no output)')
    expect(results[1]?.text).toContain(denied('workspace-write'))
    expect(asked.map(({ subject }) => subject?.command)).toEqual([command])
    const [question, decision] = [eventsOf(session, 'approval/asked'), eventsOf(session, 'approval/decided')]
    expect(question.map(({ data }) => data.reason)).toEqual([
      `escalate sandbox to danger-full-access: ${wider.justification}`,
    ])
    expect(decision.map(({ data }) => data)).toEqual([{ id: question[0]?.data.id, outcome: 'allowed-once' }])
    expect(eventsOf(session, 'sandbox/mode').map(({ data }) => data.mode)).toEqual(['workspace-write'])
  })

  it.each([
    ['nobody answers', undefined, 'unavailable', 'no approval channel is available'],
    ['the answerer throws', throws, 'unavailable', 'no approval channel is available'],
    ['the answer is no word of the vocabulary', answersNonsense, 'unavailable', 'no approval channel is available'],
    ['the person says no', rejects, 'rejected', 'the user rejected escalating this command'],
  ] as const)('3. missing answerer: when %s the body never runs', async (_, answer, outcome, text) => {
    const { session, results } = await play([bash(`echo x > ${base}/f`, wider)], answer === undefined ? {} : { answer })
    expect(results[0]?.text).toContain(text)
    expect(existsSync(join(base, 'f'))).toBe(false)
    expect(eventsOf(session, 'approval/decided').map(({ data }) => data.outcome)).toEqual([outcome])
  })

  it('4. never policy: an ask is rejected and no answerer hears of it', async () => {
    const { ctx, session, results, asked } = await play([bash(`echo x > ${base}/f`, wider)], {
      answer: () => 'allowed-once',
      prepare: (context, agent) => context.approval.setPolicy(agent, 'never'),
    })
    expect(ctx.approval.policyOf(session)).toBe('never')
    expect(results[0]?.text).toBe('Error: the user rejected escalating this command to "danger-full-access"')
    expect(asked).toEqual([])
    expect(eventsOf(session, 'approval/decided').map(({ data }) => data.outcome)).toEqual(['rejected'])
    expect(existsSync(join(base, 'f'))).toBe(false)
  })

  it('5. read-only mutation: neither the workspace nor a temporary directory changes', async () => {
    const temp = join(realpathSync(tmpdir()), `dsh-canary-${process.pid}`)
    const { results } = await play(
      [bash('echo x > f'), bash(`echo x > ${temp}`), write('g'), write(temp), bash('echo x > /dev/null')],
      { mode: 'read-only' },
    )
    expect(results.slice(0, 4).map(({ text }) => text.includes(denied('read-only')))).toEqual([true, true, true, true])
    expect(results[4]?.text).toBe('(no output)')
    for (const path of [join(workspace, 'f'), join(workspace, 'g'), temp]) expect(existsSync(path)).toBe(false)
  })

  it('6. workspace containment: inside works, the parent and links to outside do not', async () => {
    mkdirSync(join(base, 'out'))
    symlinkSync(join(base, 'out'), join(workspace, 'link'))
    const { results } = await play([
      bash('echo in > a'),
      write('b'),
      bash('echo x > ../f'),
      write('../f'),
      bash('echo x > link/f'),
      write('link/f'),
    ])
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('in\n')
    expect(readFileSync(join(workspace, 'b'), 'utf8')).toBe('x')
    expect(results.slice(2).map(({ text }) => text.includes(denied('workspace-write')))).toEqual([
      true,
      true,
      true,
      true,
    ])
    for (const path of ['f', 'out/f']) expect(existsSync(join(base, path))).toBe(false)
  })

  it.each([
    ['there is none', { rungs: [] }, /to danger-full-access\.$/],
    ['it cannot start', { rungs: ['bwrap'], runnerCommand: ['/nope/bwrap'] }, /to danger-full-access\.$/],
    ['it breaks after it was found', undefined, /Runner failure: bwrap: boom$/],
  ] as const)('7. runner failure: when %s the command does not run', async (_, config, text) => {
    const sandbox = config === undefined ? { rungs: ['bwrap'], runnerCommand: [breakingRunner()] } : config
    const { results } = await play([bash('echo x > f')], { sandbox })
    expect(results[0]?.error).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(results[0]?.text).toMatch(
      /^Error: sandbox mode "workspace-write" is requested but no sandbox backend is usable/,
    )
    expect(results[0]?.text).toMatch(text)
    expect(existsSync(join(workspace, 'f'))).toBe(false)
    const unconfined = await play([bash('echo x > f')], { sandbox, mode: 'danger-full-access' })
    expect(unconfined.results[0]?.text).toBe('(no output)')
  })

  it('8. enforcement report: a rung that is forced to partial is partial wherever it is told', async () => {
    const gap = 'a kernel that is known to leak'
    const { ctx, results } = await play([bash('true')], { sandbox: { knownGaps: [gap] } })
    expect(results[0]?.meta?.sandbox).toMatchObject({ rung: 'bwrap', enforcement: 'partial', notCovered: [gap] })
    expect(await ctx.sandbox.report()).toMatchObject({ rung: 'bwrap', enforcement: 'partial', notCovered: [gap] })
    const whole = await play([bash('true')])
    expect(whole.results[0]?.meta?.sandbox).toMatchObject({ rung: 'bwrap', enforcement: 'full' })
  })

  it('9. fresh edit: an edit after a read works, the same edit after an outside change asks for a new read', async () => {
    writeFileSync(join(workspace, 'f'), 'one\n')
    const read = call('read', { file_path: 'f' })
    const edit = (from: string, to: string) => call('edit', { file_path: 'f', old_string: from, new_string: to })
    const { results } = await play([
      edit('one', 'two'),
      read,
      edit('one', 'two'),
      bash('echo three > f'),
      edit('three', 'four'),
      read,
      edit('three', 'four'),
    ])
    expect(results.map(({ error }) => error?.code)).toEqual([
      'FS_NOT_OBSERVED',
      undefined,
      undefined,
      undefined,
      'FS_STALE_VERSION',
      undefined,
      undefined,
    ])
    expect(results[4]?.text).toContain('re-read the file, then retry')
    expect(readFileSync(join(workspace, 'f'), 'utf8')).toBe('four\n')
  })

  it('the control: the file sandbox alone does not block the network', async () => {
    const server = net.createServer((socket) => socket.end('reached\n')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const { port } = server.address() as net.AddressInfo
      const { results } = await play([bash(`exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3`)])
      expect(results[0]?.text).toBe('reached\n')
    } finally {
      server.close()
    }
  })
})

/** Works while it is looked at, and fails from then on. */
function breakingRunner(): string {
  const runner = join(base, 'runner')
  writeFileSync(
    runner,
    `#!/bin/sh\nif mkdir ${base}/used 2>/dev/null; then exec bwrap "$@"; fi\necho "bwrap: boom" >&2\nexit 1\n`,
  )
  chmodSync(runner, 0o755)
  return runner
}
