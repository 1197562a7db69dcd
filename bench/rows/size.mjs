import { existsSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../scripts/ready.mjs'

/** What an installation puts on the disk: the command with its bundled rows, ripgrep, and what drives terminals. */
function installed() {
  const cli = path.join(root, 'packages/host/cli')
  const modules = ['@vscode', '@lydell'].map((scope) => path.join(root, 'node_modules', scope))
  const places = [path.join(cli, 'bin'), path.join(cli, 'dist'), ...modules.filter((place) => existsSync(place))]
  return places.reduce((sum, place) => sum + sizeOf(place), 0)
}

function sizeOf(place) {
  const stat = lstatSync(place)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(place).reduce((sum, name) => sum + sizeOf(path.join(place, name)), 0)
}

export const rows = [
  {
    name: 'installed',
    what: 'size on disk of a production install, without Node and sharp',
    unit: 'MB',
    once: true,
    target: { text: '≤ 60 MB', reached: (value) => value <= 60 },
    measure: async () => ({ value: installed() / 1_000_000 }),
  },
]
