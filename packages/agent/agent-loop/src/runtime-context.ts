import { userMessage } from '@dsh/agent'
import type { UserMessage } from '@dsh/llm'
import type { Fold, Session } from '@dsh/session'
import { clearedContext, type SystemPromptService } from '@dsh/system-prompt'
import type { LoopHost } from './host.ts'

type Snapshot = NonNullable<ReturnType<SystemPromptService['runtimeContext']>>

interface LastSnapshot {
  readonly seq: number
  readonly text: string
}

/** The newest snapshot in the log, shadowed or not. */
const lastSnapshot: Fold<LastSnapshot | undefined> = {
  initial: () => undefined,
  apply: (last, event) => {
    if (event.type !== 'user/message') return last
    const { source, content } = event.data
    if (source.kind !== 'plugin' || source['form'] !== 'snapshot' || !isOurs(source['plugin'])) return last
    return { seq: event.seq, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
  },
}

/** The snapshot message for the next step; undefined while the model still has these very words in front of it. */
export function runtimeContextMessage({ session, systemPrompt, agent }: LoopHost): UserMessage | undefined {
  const now: Snapshot | undefined = systemPrompt.runtimeContext(agent)
  const told = visibleSnapshot(session)
  if (now === undefined && (told === undefined || told.text === clearedContext)) return undefined
  const text = now?.text ?? clearedContext
  if (told?.text === text) return undefined
  return userMessage(text, {
    kind: 'plugin',
    plugin: '@dsh/system-prompt',
    form: 'snapshot',
    sections: now?.sections ?? [],
  })
}

function visibleSnapshot(session: Session): LastSnapshot | undefined {
  const last = session.fold(lastSnapshot)
  return last !== undefined && session.surface.includes(last.seq) ? last : undefined
}

function isOurs(plugin: unknown): boolean {
  return plugin === '@dsh/system-prompt' || plugin === '@deepseek-ai/dsh-system-prompt'
}
