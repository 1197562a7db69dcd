import { unwatchFile, watchFile } from 'node:fs'
import type { Composition } from '@dsh/compose/core'
import { type Context, notify } from '@dsh/cordis'
import { errorText } from '@dsh/core'
import { skipText } from './audit.ts'
import { noticesHeard } from './notices.ts'
import { reloadText } from './reload-text.ts'
import type { HostReload, ReloadOutcome } from './types.ts'

const POLL_MS = 250
const SETTLE_MS = 100

export interface ReloadOptions {
  readonly ctx: Context
  readonly files: readonly string[]
  /** Reads every layer again; throws when one of them is not usable. */
  readonly recompose: () => Composition | Promise<Composition>
  /** Makes it the running composition, or throws and leaves everything as it was. Gives the ids that changed. */
  readonly update: (composition: Composition) => Promise<readonly string[]>
  /** Where an outcome goes that no surface listens for. */
  readonly say: (line: string) => void
}

/** Keeps the running rows in step with the user's files once a surface asks for it. One change at a time. */
export function createReload(options: ReloadOptions): HostReload & { stop(): Promise<void> } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<ReloadOutcome> | undefined
  let again = false
  let watching = false
  const onChange = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void reload(), SETTLE_MS)
  }

  async function reload(): Promise<ReloadOutcome> {
    if (running !== undefined) {
      again = true
      return running
    }
    running = (async () => {
      let outcome: ReloadOutcome
      do {
        again = false
        outcome = await once(options)
        tell(options, outcome)
      } while (again)
      return outcome
    })()
    try {
      return await running
    } finally {
      running = undefined
    }
  }

  return {
    reload,
    watch() {
      if (watching) return
      watching = true
      for (const file of options.files) watchFile(file, { interval: POLL_MS, persistent: false }, onChange)
    },
    async stop() {
      clearTimeout(timer)
      again = false
      if (watching) for (const file of options.files) unwatchFile(file, onChange)
      watching = false
      await running?.catch(() => {})
    },
  }
}

async function once(options: ReloadOptions): Promise<ReloadOutcome> {
  try {
    const composition = await options.recompose()
    const changed = await options.update(composition)
    return { ok: true, changed, notes: composition.skips.map(skipText) }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : errorText(error) }
  }
}

/** To a surface that listens for outcomes; else as notices, and on stderr a change that worked is silent. */
function tell({ ctx, say }: ReloadOptions, outcome: ReloadOutcome): void {
  const heard = ctx.events.dispatch('emit', ['host/reload', outcome]).length > 0
  const lines = outcome.ok && !noticesHeard(ctx) ? outcome.notes : reloadText(outcome)
  if (heard) notify(ctx, 'host/reload', outcome)
  else for (const line of lines) say(`dsh: ${line}`)
}
