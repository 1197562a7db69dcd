import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type { Fixture } from './fixture.ts'

const probes: Readonly<Record<string, () => boolean>> = {
  bubblewrap: () => onPath('bwrap'),
  root: () => process.getuid?.() === 0,
  git: () => onPath('git'),
}

/** What the fixture needs and this machine lacks. An unknown need is never met. */
export function unmetNeeds(fixture: Fixture): string[] {
  return (fixture.input.needs ?? []).filter((need) => probes[need]?.() !== true)
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
