import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type { ContentBlock } from '@dsh/llm'
import type {} from '@dsh/spill-local'
import type { PostExecuteDecision, ToolExecution } from '@dsh/tools'
import * as z from 'zod'
import { excerpt } from './excerpt.ts'

export const name = 'spill-policy'
export const inject = ['tools']
export const Config = lazySchema(() =>
  z
    .strictObject({
      /** A longer text result is stored and replaced by an excerpt of at most this many bytes. Absent = off. */
      maxInlineBytes: z
        .custom<number>((value) => Number.isInteger(value) && (value as number) >= 0, {
          error: ({ input }) => `spill-policy: maxInlineBytes must be a non-negative integer (got ${String(input)})`,
        })
        .optional(),
    })
    .prefault({}),
)

/** Its windows are bounded already; a stored one would only be read again. */
const exempt = new Set(['read'])

export async function apply(ctx: Context, { maxInlineBytes }: z.output<typeof Config>): Promise<void> {
  if (maxInlineBytes === undefined) return

  ctx.on(
    'tools/post-execute',
    async (exec, result, next) => {
      const decision = await next()
      if (decision.kind !== 'accept' || decision.value !== undefined) return decision
      const text = textOf(decision.content ?? result.content)
      if (text === undefined || exempt.has(exec.name) || exec.parent !== undefined) return decision
      if (Buffer.byteLength(text) <= maxInlineBytes) return decision
      return (await spilled(ctx, exec, text, maxInlineBytes, decision)) ?? decision
    },
    { prepend: true },
  )
}

/** The decision with the excerpt in it, or undefined where the text cannot be stored: it then stays as it is. */
async function spilled(
  ctx: Context,
  exec: ToolExecution,
  text: string,
  maxBytes: number,
  decision: PostExecuteDecision & { readonly kind: 'accept' },
): Promise<PostExecuteDecision | undefined> {
  const store = ctx.get('spillStore')
  const sessionId = exec.agent?.session.id
  if (store === undefined || sessionId === undefined) {
    ctx.logger.warn(
      `a result of ${exec.name} is too long and there is ${store ? 'no session' : 'no store'} to keep it for`,
    )
    return undefined
  }
  try {
    const saved = await store.saveText({
      owner: { sessionId },
      source: { toolName: exec.name, callId: exec.callId, label: exec.name },
      suggestedName: `${exec.name}.txt`,
      content: text,
    })
    const shown = excerpt(
      text,
      maxBytes,
      (omitted) =>
        `(Omitted ${omitted} bytes. Full formatted result stored at: ${saved.locator}. ${saved.retrievalHint})`,
    )
    if (shown === undefined) ctx.logger.warn(`maxInlineBytes ${maxBytes} has no room for the notice of a long result`)
    return shown === undefined ? undefined : { ...decision, content: [{ type: 'text', text: shown }] }
  } catch (error) {
    ctx.logger.warn(error)
    return undefined
  }
}

function textOf(content: readonly ContentBlock[]): string | undefined {
  const texts: string[] = []
  for (const block of content) {
    if (block.type !== 'text') return undefined
    texts.push(block.text)
  }
  return texts.join('')
}
