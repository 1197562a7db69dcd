import type { GenerateOptions } from '@dsh/llm'
import { type Script, type ScriptEntry, textOf } from './script.ts'

/** Live sessions and the recorded ones they play. */
export interface Bindings {
  /** The next call of the session; advances its cursor at once. */
  take(options: GenerateOptions, isChild: boolean | undefined): ScriptEntry
  /** The next title that a model wrote in this session; undefined when there is none. */
  title(options: GenerateOptions, isChild: boolean | undefined): string | undefined
  /** Throws unless everything that was recorded was played. */
  assertConsumed(): void
}

interface Bound {
  readonly script: Script
  calls: number
  titles: number
}

const ANONYMOUS = ''

/**
 * A session plays the first free script whose opening words are in its request, so that parallel children find their own
 * whichever asks first; without such words, the next free one. `scripts[0]` is the primary.
 */
export function createBindings(scripts: readonly Script[]): Bindings {
  const bound = new Map<string, Bound>()
  const free = [...scripts]

  const bind = (options: GenerateOptions, isChild: boolean | undefined): Bound => {
    const key = options.sessionId ?? ANONYMOUS
    const known = bound.get(key)
    if (known !== undefined) return known
    const script = choose(options, isChild)
    if (script === undefined)
      throw new Error(
        `llm-replay: a model call arrived from an unrecorded session (#${bound.size + 1}); the scenario recorded only ${scripts.length} session(s) — re-record it`,
      )
    free.splice(free.indexOf(script), 1)
    const made = { script, calls: 0, titles: 0 }
    bound.set(key, made)
    return made
  }

  const choose = (options: GenerateOptions, isChild: boolean | undefined): Script | undefined => {
    const candidates = isChild === true ? free.filter((script) => script !== scripts[0]) : free
    if (isChild === false && free[0] === scripts[0]) return free[0]
    const said = new Set(options.messages.map((message) => textOf(message.content)))
    return candidates.find((script) => script.opening !== undefined && said.has(script.opening)) ?? candidates[0]
  }

  return {
    take(options, isChild) {
      const session = bind(options, isChild)
      const entry = session.script.calls[session.calls]
      session.calls++
      if (entry === undefined)
        throw new Error(
          `llm-replay: script exhausted — session requested model call #${session.calls} but its script has only ${session.script.calls.length}; re-record the scenario`,
        )
      return entry
    },
    title(options, isChild) {
      const session = bind(options, isChild)
      return session.script.titles[session.titles++]
    },
    assertConsumed() {
      const short = [...bound].flatMap(([id, { script, calls }]) =>
        calls < script.calls.length
          ? [
              `session ${id === ANONYMOUS ? '(anonymous)' : id} consumed ${calls}/${script.calls.length} recorded call(s)`,
            ]
          : [],
      )
      const unbound = free.filter((script) => script.calls.length > 0).length
      const why = [...(unbound === 0 ? [] : [`${unbound} recorded script(s) never bound to a live session`]), ...short]
      if (why.length > 0)
        throw new Error(
          `llm-replay: fixture not fully consumed — ${why.join('; ')}; the scenario drove fewer model calls than recorded`,
        )
    },
  }
}
