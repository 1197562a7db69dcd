import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** What some tests need and a machine may lack; `npm test` names what was skipped for it. */
export type Need = 'bubblewrap' | 'tmux' | 'gcc' | 'root'

const known = new Map<Need, boolean>()

/** `describe.skipIf(!has('bubblewrap'))(…)` */
export function has(need: Need): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  const found = probe(need)
  known.set(need, found)
  return found
}

function probe(need: Need): boolean {
  if (need === 'root') return process.getuid?.() === 0
  if (need === 'gcc') return onPath('gcc') || onPath('cc')
  if (need === 'tmux') return onPath('tmux')
  return onPath('bwrap') && spawnSync('bwrap', ['--ro-bind', '/', '/', '--', 'true']).status === 0
}

function onPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((dir) => {
    try {
      accessSync(path.join(dir, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
