import { truncateToWidth, visibleWidth } from '@mariozechner/pi-tui'
import type { Theme } from './theme.ts'

/** The effective knobs, as they are in force for the next call. */
export interface StatusFacts {
  readonly model: string
  readonly effort?: string
  readonly mode: string
  readonly policy: string
  /** `full`, `partial` or `none`; with the rung's name. */
  readonly enforcement?: { readonly level: 'full' | 'partial' | 'none'; readonly rung?: string }
  /** 0…1 of the context window; undefined when the window is unknown. */
  readonly contextUsed?: number
  readonly cacheHit?: number
  readonly costUsd?: number
  readonly costKnown?: boolean
  readonly jobs?: number
  readonly directory?: string
  readonly title?: string
}

/** How far the sandbox confines here; undefined where it is not known, or nothing is to be confined. */
export function sandboxText({ mode, enforcement }: StatusFacts): string | undefined {
  return enforcement === undefined || mode === 'danger-full-access' ? undefined : `sandbox ${enforcement.level}`
}

/** One line: what is left out when it is narrow goes from the right. */
export function statusLine(facts: StatusFacts, width: number, theme: Theme): string {
  const danger = facts.mode === 'danger-full-access'
  const sandbox = sandboxText(facts)
  const parts = [
    theme.accent(facts.effort === undefined ? facts.model : `${facts.model} (${facts.effort})`),
    (danger ? theme.bad : theme.good)(`${facts.mode}/${facts.policy}`),
    ...(sandbox === undefined ? [] : [(facts.enforcement?.level === 'full' ? theme.dim : theme.warn)(sandbox)]),
    ...(facts.contextUsed === undefined ? [] : [theme.dim(`context ${percent(facts.contextUsed)}`)]),
    ...(facts.cacheHit === undefined ? [] : [theme.dim(`cache ${percent(facts.cacheHit)}`)]),
    ...(facts.costUsd === undefined
      ? []
      : [
          theme.dim(
            facts.costKnown === false ? 'cost unknown' : `$${facts.costUsd.toFixed(facts.costUsd < 1 ? 4 : 2)}`,
          ),
        ]),
    ...(facts.jobs === undefined || facts.jobs === 0
      ? []
      : [theme.warn(`${facts.jobs} ${facts.jobs === 1 ? 'job' : 'jobs'} running`)]),
    ...(facts.directory === undefined ? [] : [theme.dim(facts.directory)]),
  ]
  let line = parts[0] ?? ''
  for (const part of parts.slice(1)) {
    const longer = `${line}${theme.dim(' · ')}${part}`
    if (visibleWidth(longer) > width) break
    line = longer
  }
  return visibleWidth(line) > width ? truncateToWidth(line, width, '…') : line
}

function percent(share: number): string {
  const value = share * 100
  return `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)}%`
}
