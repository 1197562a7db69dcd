import type { Agent } from '@dsh/agent'
import type { JobFacts, JobsService } from '@dsh/jobs-local'
import { describe, expect, it } from 'vitest'
import { droppedText, settleJobs } from '../src/leftovers.ts'

const job = (id: string): JobFacts => ({ id, kind: 'bash', label: 'sleep 9\ntrue', status: 'running', startedAt: 0 })

function host(waves: JobFacts[][], reason = 'completed') {
  const seen: string[] = []
  const agent = {
    session: { events: [{ type: 'turn/end', data: { turn: 1, reason: { kind: reason } } }] },
    whenIdle: async () => void seen.push('idle'),
  } as unknown as Agent
  const jobs = {
    active: () => waves[0] ?? [],
    settled: async () => {
      seen.push('settled')
      waves.shift()
      return []
    },
  } as unknown as JobsService
  return { seen, settle: (ms = 1000) => settleJobs(agent, jobs, ms, new AbortController().signal) }
}

describe('the end of a headless run', () => {
  it('waits for jobs, for the turn that their end opens, and for the jobs of that turn', async () => {
    const { settle, seen } = host([[job('bash-1')], [job('bash-2')]])
    expect(await settle()).toEqual([])
    expect(seen).toEqual(['settled', 'idle', 'settled', 'idle'])
  })

  it('does not wait when nothing runs, or when the turn failed', async () => {
    expect((await host([]).settle()).length).toBe(0)
    const failed = host([[job('bash-1')]], 'error')
    expect(await failed.settle()).toEqual([])
    expect(failed.seen).toEqual([])
  })

  it('names what it drops when its time is over', async () => {
    const dropped = await host([[job('bash-1')]]).settle(0)
    expect(dropped.map(droppedText)).toEqual([
      'dsh: background job bash-1 (bash: sleep 9 …) was still running and is stopped\n',
    ])
  })
})
