import type {} from '@dsh/commands'
import type {} from '@dsh/compaction-basic'
import type { Context } from '@dsh/cordis'

export const name = 'command-compact'
export const inject = ['commands', 'compaction']

/** `/compact`: summarises the conversation so far. */
export async function apply(ctx: Context): Promise<void> {
  ctx.commands.register({
    name: 'compact',
    description: 'summarise the conversation so far, to free up context',
    async run({ agent, args, commandId, signal }) {
      if (args !== '') return { kind: 'error', text: 'Usage: /compact (no arguments)' }
      const done = await ctx.compaction.compact(agent, { sourceCommandId: commandId, signal })
      if (done === undefined) return { kind: 'success', text: 'No compactable history yet.' }
      const { items, tokens, checkpointSeq } = done
      return {
        kind: 'success',
        text: `Compacted ${items} history items (~${tokens} tokens).`,
        sourceEventSeq: checkpointSeq,
      }
    },
  })
}
