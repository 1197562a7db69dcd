import type { Context } from '@dsh/cordis'
import type {} from '@dsh/fs'
import { Observations } from './observations.ts'

export const name = 'fs-observation-policy'

/** Observations live as long as this row and the session object: a resumed session has seen nothing. */
export async function apply(ctx: Context): Promise<void> {
  const observations = new Observations()
  ctx.on('fs/write-intent', (target, actor) => observations.writeIntent(ownerOf(actor), target))
  ctx.on('fs/edit-intent', (target, actor) => observations.editIntent(ownerOf(actor), target))
  ctx.on('fs/observed', (target, observation, actor) => observations.record(ownerOf(actor), target, observation))
}

/** The session of the tool execution that acts; undefined for a call without an agent. */
function ownerOf(actor: object): object | undefined {
  const { agent } = actor as { readonly agent?: { readonly session?: object } }
  return agent?.session
}
