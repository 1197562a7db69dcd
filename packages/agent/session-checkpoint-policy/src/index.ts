import type {} from '@dsh/agent'
import type { Context } from '@dsh/cordis'
import type { GenerateOptions, StreamChunk } from '@dsh/llm'
import type { Session } from '@dsh/session'
import { abortedBeforeDispatch, failedResult } from '@dsh/tools'

export const name = 'session-checkpoint-policy'
export const inject = ['llm', 'sessionPersistence', 'sessions', 'tools']

/** What is about to happen is on disk first; when it cannot be, it does not happen. */
export async function apply(ctx: Context): Promise<void> {
  const { sessionPersistence, sessions } = ctx
  const checkpoint = (session: Session) => sessionPersistence.flush(session)

  // A step that claims nothing has nothing of its own to lose: the request's own checkpoint follows.
  ctx.on('agent/pre-step', async (input, next) => {
    if (input.claimed.length > 0) await checkpoint(input.agent.session)
    return await next()
  })

  ctx.on('llm/stream', (options, next) => {
    const session = options.sessionId === undefined ? undefined : sessions.get(options.sessionId)
    return session === undefined ? next() : afterCheckpoint(() => checkpoint(session), options, next)
  })

  ctx.on('tools/execute', async (exec, next) => {
    if (exec.agent === undefined || exec.parent !== undefined) return await next()
    await checkpoint(exec.agent.session)
    return exec.signal.aborted ? failedResult(abortedBeforeDispatch()) : await next()
  })
}

async function* afterCheckpoint(
  checkpoint: () => Promise<void>,
  { signal }: GenerateOptions,
  next: () => AsyncIterable<StreamChunk>,
): AsyncGenerator<StreamChunk> {
  await checkpoint()
  signal?.throwIfAborted()
  yield* next()
}
