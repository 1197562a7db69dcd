import type { Context } from '@dsh/cordis'
import { failedResult, toolError, toolErrors } from '@dsh/tools'

export const name = 'tool-call-timeout-policy'
export const inject = ['tools']

/** Holds every call to the budget that its tool declares. */
export async function apply(ctx: Context): Promise<void> {
  ctx.on('tools/execute', async (exec, next) => {
    const timeoutMs = ctx.tools.get(exec.name, exec.agent)?.timeoutMs
    if (timeoutMs === undefined) return next()
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), timeoutMs)
    exec.signal = AbortSignal.any([exec.signal, deadline.signal])
    try {
      const result = await next()
      // Whatever the body made of the interruption: the model should know that it was the clock.
      if (!deadline.signal.aborted) return result
      return failedResult(toolError(toolErrors.timeout, `tool call timed out after ${timeoutMs}ms`))
    } finally {
      clearTimeout(timer)
    }
  })
}
