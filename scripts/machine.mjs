// What this machine has of the things that some tests and the sandbox need.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'

function onPath(name) {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(dir, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {}
  }
}

function bubblewrap() {
  const file = onPath('bwrap')
  if (file === undefined) return 'bwrap is not installed (apt-get install bubblewrap)'
  const tried = spawnSync(file, ['--ro-bind', '/', '/', '--', 'true'], { encoding: 'utf8' })
  if (tried.status === 0) return undefined
  return `bwrap is installed but this machine refuses it: ${(tried.stderr || tried.error?.message || 'no reason given').trim()}`
}

const probes = {
  bubblewrap,
  tmux: () => (onPath('tmux') ? undefined : 'tmux is not installed'),
  gcc: () => ((onPath('gcc') ?? onPath('cc')) ? undefined : 'no C compiler'),
  root: () => (process.getuid?.() === 0 ? undefined : 'not running as root'),
}

/** Name → why it is missing; only what is missing. */
export function missing() {
  const entries = Object.entries(probes).map(([name, probe]) => [name, probe()])
  return Object.fromEntries(entries.filter(([, reason]) => reason !== undefined))
}
