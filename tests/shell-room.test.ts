import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as agentRow from '@dsh/agent'
import * as agentLoop from '@dsh/agent-loop'
import * as bashSandbox from '@dsh/bash-sandbox'
import * as observation from '@dsh/fs-observation-policy'
import * as fsSandbox from '@dsh/fs-sandbox'
import * as jobsLocal from '@dsh/jobs-local'
import * as llm from '@dsh/llm'
import * as sandboxLocal from '@dsh/sandbox-local'
import * as sandboxPolicy from '@dsh/sandbox-policy'
import * as sessionRow from '@dsh/session'
import * as shellEnv from '@dsh/shell-env'
import * as spillLocal from '@dsh/spill-local'
import * as spillPolicy from '@dsh/spill-policy'
import * as subprocess from '@dsh/subprocess-local'
import * as systemPrompt from '@dsh/system-prompt'
import { bootRows, has, type RowSpec, say, scriptedModel } from '@dsh/testkit'
import * as toolBash from '@dsh/tool-bash'
import * as toolFs from '@dsh/tool-fs'
import * as toolJobs from '@dsh/tool-jobs'
import * as tools from '@dsh/tools'
import * as approval from '@dsh/user-approval'
import { afterAll, describe, expect, it } from 'vitest'

/** The shell room as a model meets it, the same on every rung: one conversation per test, on the rows of the base bundle. */

const made: string[] = []
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}
const bash = (command: string, more: object = {}): Call => ({
  name: 'bash',
  args: { command, description: 'd', ...more },
})
const use = (name: string, args: Record<string, unknown> = {}): Call => ({ name, args })

interface Options {
  readonly rung?: string
  readonly mode?: string
  /** Runs between the turn's start and its end. */
  readonly during?: (agent: agentRow.Agent) => void
}

/** Each inner list is one assistant message; gives the texts that the model got back, in order. */
async function converse(
  steps: readonly (readonly Call[])[],
  { rung = 'bwrap', mode = 'workspace-write', during }: Options = {},
) {
  // Beside the temporary directories: what is outside the workspace is outside.
  const base = realpathSync(mkdtempSync('/var/tmp/dsh-shell-room-'))
  made.push(base)
  const workspace = join(base, 'w')
  mkdirSync(join(workspace, 'sub'), { recursive: true })
  const model = scriptedModel([
    ...steps.map((calls) => ({ calls: [...calls] })),
    say('done'),
    say('more'),
    say('more'),
    say('more'),
  ])
  const rows: RowSpec[] = [
    { module: llm },
    { module: model.row },
    { module: sessionRow },
    { module: systemPrompt },
    { module: agentRow },
    { module: agentLoop },
    { module: tools },
    { module: sandboxLocal, config: { rungs: rung === 'none' ? [] : [rung] } },
    { module: sandboxPolicy, config: { mode, workspaceRoot: workspace } },
    { module: approval, config: { policy: 'ask' } },
    { module: fsSandbox },
    { module: observation },
    { module: toolFs },
    { module: subprocess },
    { module: bashSandbox },
    { module: shellEnv },
    { module: toolBash },
    { module: jobsLocal },
    { module: toolJobs },
    { module: spillLocal },
    { module: spillPolicy, config: { maxInlineBytes: 50_000 } },
  ]
  const { ctx, dispose } = await bootRows(rows, { home: join(base, 'home') })
  const agent = await ctx.agents.create({ cwd: workspace, provider: 'scripted', model: 'm' })
  agent.followup('go')
  during?.(agent)
  await agent.whenIdle()
  const results = agent.session.events.flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
  const texts = results.map(({ message }) =>
    message.content
      .flatMap((block) => (block.type === 'tool-result' ? block.content : []))
      .map((block) => (block.type === 'text' ? block.text : ''))
      .join(''),
  )
  return { ctx, agent, texts, results, workspace, base, model, dispose }
}

const bashOnly = async (options: Options, ...calls: Call[]) =>
  (
    await converse(
      calls.map((one) => [one]),
      options,
    )
  ).texts
const hint =
  '[sandbox: escalation available — retry this exact command once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]'
const invalid = 'Error: invalid arguments: '

const rungs: Options[] = [{ rung: 'bwrap' }, { rung: 'landlock' }, { rung: 'none', mode: 'danger-full-access' }]
for (const options of rungs) {
  const confined = options.mode === undefined
  const usable = options.rung !== 'bwrap' || has('bubblewrap')
  describe.skipIf(!usable)(`bash over ${confined ? options.rung : 'no confinement'}`, () => {
    it('refuses bad arguments with their own words', async () => {
      expect(
        await bashOnly(
          options,
          { name: 'bash', args: {} },
          bash('x', { command: 1 }),
          bash('x', { timeoutMs: '5' }),
          bash('  '),
          bash('x', { timeoutMs: -1 }),
          bash('true', { foo: 1, workdir: null }),
        ),
      ).toEqual([
        `${invalid}missing required property "command"; missing required property "description"`,
        `${invalid}"command" must be a string`,
        `${invalid}"timeoutMs" must be a number`,
        'Error: invalid command: expected a non-empty string',
        'Error: invalid timeoutMs: expected a positive number, got -1',
        '(no output)',
      ])
    })

    it('renders what commands print and how they end', async () => {
      expect(
        await bashOnly(
          options,
          bash('echo hi'),
          bash('echo o; echo e >&2; exit 3'),
          bash('printf o; exit 1'),
          bash('kill -9 $$'),
          bash('cat'),
          bash('cd /; x=1'),
          bash('pwd | grep -c "/w$"; echo "$x."'),
          bash('echo "bwrap: hello" >&2; exit 3'),
        ),
      ).toEqual([
        'hi\n',
        'o\n[stderr]\ne\n[exit code: 3]',
        'o\n[exit code: 1]',
        '(no output)\n[killed by signal: SIGKILL]',
        '(no output)',
        '(no output)',
        '1\n.\n',
        '[stderr]\nbwrap: hello\n[exit code: 3]',
      ])
    })

    it('ends what takes too long, and leaves the word to a command that cleans up', async () => {
      const { texts, results } = await converse(
        [
          [bash('echo begun; sleep 20', { timeoutMs: 1500 })],
          [bash("trap 'exit 0' TERM; sleep 20 & wait", { timeoutMs: 1500 })],
          [bash('echo quick', { timeoutMs: 9_999_999 })],
        ],
        options,
      )
      expect(texts).toEqual([
        'begun\n[timed out after 1500ms]\n[killed by signal: SIGTERM]',
        '(no output)\n[timed out after 1500ms]',
        'quick\n',
      ])
      expect(results[2]?.meta).toMatchObject({ timeoutMs: 600_000, timeoutClamped: true })
    })

    it('keeps long output reachable, and its marker last', async () => {
      const { texts, dispose } = await converse(
        [
          [bash('seq 1 20000; exit 7')],
          [bash('yes | head -c 70000000; exit 7')],
          [bash('seq -w 1 10001 | head -c 60001')],
        ],
        options,
      )
      const [long = '', huge = '', middle = ''] = texts
      for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000)
      expect(long).toMatch(/\n\[exit code: 7\]$/)
      const [, capture = ''] = /\[output truncated; full output: (\S+stdout\.log)\]/.exec(long) ?? []
      expect(readFileSync(capture, 'utf8').split('\n')).toHaveLength(20_001)
      expect(statSync(capture).mode & 0o777).toBe(0o600)
      expect(huge).toContain('[output truncated; full output: (unavailable)]')
      expect(huge).toMatch(/\n\[exit code: 7\]$/)
      const [, spill = ''] = /Full formatted result stored at: (\S+)\. Use read with offset/.exec(middle) ?? []
      expect(statSync(spill).size).toBe(60_001)
      await dispose()
      expect(existsSync(capture)).toBe(false)
    })

    it('finds by one tool what the other made, in /tmp too, and reads its own captures', async () => {
      const file = `/tmp/dsh-shell-room-${process.pid}.py`
      const { texts } = await converse(
        [
          [use('write', { file_path: file, content: 'print(6 * 7)\n' })],
          [bash(`python3 ${file}; rm ${file}`)],
          [bash('echo made > out.txt')],
          [use('read', { file_path: 'out.txt' })],
        ],
        options,
      )
      expect(texts[1]).toBe('42\n')
      expect(texts[3]).toContain('1: made')
    })

    it('names a workdir that is not there, and takes one that is', async () => {
      const { texts, workspace } = await converse(
        [[bash('pwd', { workdir: 'sub' })], [bash('touch made', { workdir: '/no/such' })]],
        options,
      )
      expect(texts).toEqual([`${workspace}/sub\n`, 'Error: workdir "/no/such" does not exist'])
    })

    it('runs jobs beside the conversation', async () => {
      const { texts } = await converse(
        [
          [use('job_list')],
          [bash('sleep .3; echo x', { run_in_background: true })],
          [use('job_output', { job_id: 'bash-1', wait: true }), use('job_output', { job_id: 'bash-1' })],
          [bash('sleep 61.5', { run_in_background: true })],
          [use('job_output', { job_id: 'bash-2', wait: true, timeout_ms: 100 }), use('job_kill', { job_id: 'bash-2' })],
          [
            use('job_output', { job_id: 'bash-2', wait: true }),
            use('job_output', { job_id: '' }),
            use('job_output', { job_id: 'zz' }),
          ],
        ],
        options,
      )
      expect(texts).toEqual([
        '(no background jobs)',
        'started background job bash-1',
        'x\n[status: completed, exit code: 0]',
        '(no new output)\n[status: completed, exit code: 0]',
        'started background job bash-2',
        '(no new output)\n[status: running]',
        'requested cancellation of job bash-2',
        '(no new output)\n[status: killed, signal: SIGTERM]',
        'Error: invalid job_id: expected a non-empty string, got ""',
        'Error: unknown job zz',
      ])
    })

    it('wakes an idle agent when a job it left ends', async () => {
      const { agent, model } = await converse([[bash('sleep 1; echo x', { run_in_background: true })]], options)
      while (model.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
      await agent.whenIdle()
      expect(JSON.stringify(model.requests[2]?.messages)).toContain(
        'background job bash-1 (bash: sleep 1; echo x) finished [status: completed, exit code: 0]. Read its output with job_output.',
      )
    })

    it('ends with the turn that is cancelled, in the order of its calls', async () => {
      const { texts, results } = await converse(
        [[bash('sleep 62.5'), use('write', { file_path: 'a', content: 'x' }), bash('touch b')]],
        {
          ...options,
          during: (agent) => void setTimeout(() => agent.cancel({ kind: 'user' }), 700),
        },
      )
      expect(texts).toEqual(['Error: tool call aborted', ...Array(2).fill('Error: tool call aborted before dispatch')])
      expect(results.map((result) => result.error?.code)).toEqual([
        'ABORTED',
        'ABORTED_BEFORE_DISPATCH',
        'ABORTED_BEFORE_DISPATCH',
      ])
    })

    it.skipIf(!confined)('marks a denied write, and not what only looks like one', async () => {
      const { texts, base, workspace } = await converse(
        [
          [bash('echo a > ../f')],
          [bash('ln -s .. l; echo a > l/g')],
          [bash('echo a > ../f; true')],
          [bash('echo a > f; cat f')],
        ],
        options,
      )
      for (const text of texts.slice(0, 2))
        expect(text).toMatch(/^\[stderr\]\nbash: line 1: (\.\.\/f|l\/g): (Read-only file system|Permission denied)\n/)
      for (const text of texts.slice(0, 2))
        expect(text.endsWith(`[sandbox: file access denied under workspace-write mode]\n${hint}\n[exit code: 1]`)).toBe(
          true,
        )
      expect(texts[2]).not.toContain('[sandbox:')
      expect(texts[3]).toBe('a\n')
      expect([existsSync(join(base, 'f')), existsSync(join(base, 'g')), existsSync(join(workspace, 'f'))]).toEqual([
        false,
        false,
        true,
      ])
    })

    it.skipIf(!confined)('tells a denied job apart at every read after its end', async () => {
      const { texts } = await converse(
        [
          [bash('echo a > ../f', { run_in_background: true })],
          [use('job_output', { job_id: 'bash-1', wait: true })],
          [use('job_output', { job_id: 'bash-1' })],
        ],
        options,
      )
      const end = `[sandbox: file access denied under workspace-write mode]\n${hint}\n[status: completed, exit code: 1]`
      expect(texts[1]?.startsWith('[stderr]\nbash: line 1: ../f: ')).toBe(true)
      expect(texts[1]?.endsWith(`\n${end}`)).toBe(true)
      expect(texts[2]).toBe(`(no new output)\n${end}`)
    })
  })
}

describe('without a usable rung', () => {
  it('nothing runs, in front or behind', async () => {
    const { texts, workspace } = await converse([[bash('touch a')], [bash('touch b', { run_in_background: true })]], {
      rung: 'none',
    })
    for (const text of texts)
      expect(text).toMatch(/^Error: sandbox mode "workspace-write" is requested but no sandbox backend is usable/)
    expect(readdirSync(workspace)).toEqual(['sub'])
  })
})
