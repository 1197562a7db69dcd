import type { Verdict } from './probe.ts'
import { recall, remember } from './probe-cache.ts'

export interface VerdictMemory {
  verdict(): Promise<Verdict>
  forget(): void
}

/** Probes once; a good verdict is remembered in `file` for later runs. */
export function verdictMemory(file: string | undefined, key: string, probe: () => Promise<Verdict>): VerdictMemory {
  let current: Promise<Verdict> | undefined
  let trustFile = true

  async function look(): Promise<Verdict> {
    const known = file !== undefined && trustFile ? await recall(file, key) : undefined
    if (known !== undefined) return known
    const found = await probe()
    if (file !== undefined) await remember(file, key, found)
    return found
  }

  return {
    verdict: () => {
      current ??= look()
      return current
    },
    forget: () => {
      current = undefined
      trustFile = false
    },
  }
}
