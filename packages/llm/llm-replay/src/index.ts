import type { Context } from '@dsh/cordis'
import { replayAdapters } from './adapter.ts'
import { createBindings } from './binding.ts'
import { Config, scriptFiles } from './config.ts'
import { loadScripts } from './load.ts'

export { Config }

/** `ctx.llmReplay` */
export interface LlmReplay {
  /** Throws, naming what was not played, unless the whole recording was. */
  assertConsumed(): void
}

declare module '@dsh/cordis' {
  interface Context {
    llmReplay: LlmReplay
  }
}

export const name = 'llm-replay'
export const inject = ['llm']

export async function apply(ctx: Context, config: Config): Promise<void> {
  const bindings = createBindings(await loadScripts(scriptFiles(config, process.env), config.holdUnfinished))
  const parts = {
    bindings,
    paceMs: config.paceMs,
    isChild: (sessionId: string | undefined) => {
      const header = sessionId === undefined ? undefined : ctx.get('sessions')?.get(sessionId)?.header
      return header === undefined ? undefined : header.origin === 'subagent'
    },
  }
  for (const adapter of replayAdapters(parts, config.providers)) ctx.llm.register(adapter)
  ctx.provide('llmReplay', { assertConsumed: bindings.assertConsumed })
}
