import type { Agent } from '@dsh/agent'
import { pluginMessage } from '@dsh/agent'
import { sliceCodePoints } from '@dsh/core'
import type { JobFacts } from '@dsh/jobs-local'
import type { UserMessage } from '@dsh/llm'
import { notice } from './words.ts'

const maxSummary = 120

export interface NoticeOptions {
  /** `wakeup`: an idle agent starts a turn for it; `quiet`: it waits for the next one. */
  readonly delivery: 'wakeup' | 'quiet'
  /** Turns in a row that only notices may open; then they wait for a person. */
  readonly maxConsecutiveWakes: number
}

/** Tells agents that their jobs ended: in the next step of a busy one, in a turn of its own of an idle one. */
export class Notices {
  private readonly wakes = new WeakMap<Agent, number>()
  private readonly options: NoticeOptions

  constructor(options: NoticeOptions) {
    this.options = options
  }

  finished(agent: Agent, job: JobFacts): void {
    const text = notice(job)
    const message = pluginMessage(text, {
      plugin: '@dsh/tool-jobs',
      form: 'notice',
      summary: sliceCodePoints(text, maxSummary),
    })
    if (agent.status === 'running') {
      agent.send(message, 'next-step', this.options.delivery === 'wakeup')
      return
    }
    const wakes = this.wakes.get(agent) ?? 0
    const wake = this.options.delivery === 'wakeup' && wakes < this.options.maxConsecutiveWakes
    if (wake) this.wakes.set(agent, wakes + 1)
    agent.send(message, wake ? 'next-turn' : 'next-step', wake)
  }

  /** A person spoke: the agent may wake itself again. */
  claimed(agent: Agent, messages: readonly UserMessage[]): void {
    if (messages.some((message) => message.source.kind === 'user')) this.wakes.delete(agent)
  }
}
