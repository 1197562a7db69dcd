import type { Agent } from '@dsh/agent'
import type { JobFacts } from '@dsh/jobs-local'
import type { UserMessage } from '@dsh/llm'
import { describe, expect, it } from 'vitest'
import { Config } from '../src/index.ts'
import { Notices } from '../src/notices.ts'
import { descriptions, notice, renderKill, renderList, renderRead } from '../src/words.ts'

const job = (more: Partial<JobFacts> = {}): JobFacts => ({
  id: 'bash-1',
  kind: 'bash',
  label: 'make',
  status: 'completed',
  detail: 'exit code: 0',
  startedAt: 1,
  ...more,
})
const agentThat = (status: Agent['status']) => {
  const sent: [UserMessage, string, boolean][] = []
  const send = (...what: [UserMessage, string, boolean]) => void sent.push(what)
  return { agent: { status, send } as unknown as Agent, sent }
}
const person = [{ source: { kind: 'user' } }] as unknown as UserMessage[]

describe('the notice of a finished job', () => {
  it('reaches a busy agent in its next step', () => {
    const { agent, sent } = agentThat('running')
    new Notices({ delivery: 'wakeup', maxConsecutiveWakes: 3 }).finished(agent, job())
    expect(sent).toHaveLength(1)
    expect(sent[0]?.slice(1)).toEqual(['next-step', true])
    expect(sent[0]?.[0]).toMatchObject({
      role: 'user',
      source: { kind: 'plugin', plugin: '@dsh/tool-jobs', form: 'notice' },
      content: [
        {
          type: 'text',
          text: 'background job bash-1 (bash: make) finished [status: completed, exit code: 0]. Read its output with job_output.',
        },
      ],
    })
  })

  it('opens a turn of an idle agent, a few times in a row, then waits for a person', () => {
    const { agent, sent } = agentThat('idle')
    const notices = new Notices({ delivery: 'wakeup', maxConsecutiveWakes: 2 })
    for (let i = 0; i < 3; i++) notices.finished(agent, job())
    notices.claimed(agent, person)
    notices.finished(agent, job())
    expect(sent.map(([, target, wakes]) => `${target} ${wakes}`)).toEqual([
      'next-turn true',
      'next-turn true',
      'next-step false',
      'next-turn true',
    ])
  })

  it('wakes nobody when it is to be quiet', () => {
    const { agent, sent } = agentThat('idle')
    new Notices({ delivery: 'quiet', maxConsecutiveWakes: 3 }).finished(agent, job())
    expect(sent[0]?.slice(1)).toEqual(['next-step', false])
  })

  it('has a summary of at most 120 characters', () => {
    const { agent, sent } = agentThat('idle')
    new Notices({ delivery: 'quiet', maxConsecutiveWakes: 3 }).finished(agent, job({ label: 'x'.repeat(300) }))
    expect(sent[0]?.[0].source).toMatchObject({ summary: expect.stringMatching(/^background job .{1,105}$/) })
  })
})

describe('the words about jobs', () => {
  it('have the lengths of the reference', () => {
    expect(Object.values(descriptions).map((text) => text.length)).toEqual([258, 85, 136])
  })

  it.each([
    [
      renderRead({ text: '', notes: [], job: job({ status: 'running', detail: undefined }) }),
      '(no new output)\n[status: running]',
    ],
    [renderRead({ text: 'x\n', notes: [], job: job() }), 'x\n[status: completed, exit code: 0]'],
    [
      renderRead({ text: 'x', notes: ['[some output was dropped from memory; full output: /a]'], job: job() }),
      'x\n[some output was dropped from memory; full output: /a]\n[status: completed, exit code: 0]',
    ],
    [renderList([]), '(no background jobs)'],
    [
      renderList([job({ status: 'running' }), job({ id: 'bash-2', label: 'cat <<E\na\nE' })]),
      'bash-1 [bash] running — make\nbash-2 [bash] completed — cat <<E …',
    ],
    [renderKill('bash-1', true, job()), 'requested cancellation of job bash-1'],
    [renderKill('bash-1', false, job()), 'job bash-1 had already finished [status: completed, exit code: 0]'],
    [
      notice(job({ label: 'a\nb', status: 'killed', detail: 'signal: SIGKILL' })),
      'background job bash-1 (bash: a …) finished [status: killed, signal: SIGKILL]. Read its output with job_output.',
    ],
  ])('read %j', (got, want) => {
    expect(got).toBe(want)
  })

  it('refuse a wait that is longer than the longest', () => {
    expect(Config.safeParse({ waitTimeoutMs: 5000, maxWaitTimeoutMs: 1000 }).error?.issues[0]?.message).toBe(
      'tool-jobs: waitTimeoutMs (5000) exceeds maxWaitTimeoutMs (1000)',
    )
  })
})
