// glob and grep over 100 000 files, against ripgrep itself with the same flags.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { root } from '../../scripts/ready.mjs'

const files = 100_000
let ready

function prepare(bench) {
  ready ??= make(bench)
  return ready
}

async function make(bench) {
  const dir = path.join(bench.base, 'many')
  for (let at = 0; at < files; at++) {
    const parent = path.join(dir, `d${Math.floor(at / 1000)}`, `e${Math.floor(at / 100) % 10}`)
    if (at % 100 === 0) mkdirSync(parent, { recursive: true })
    const needle = at % 1000 === 7 ? 'a needle\n' : ''
    writeFileSync(path.join(parent, `f${at}.${at % 10 === 0 ? 'ts' : 'txt'}`), `line one of ${at}\nline two\n${needle}`)
  }
  await build({
    entryPoints: [path.join(root, 'bench/search-child.mjs')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@vscode/ripgrep'],
    outfile: path.join(root, 'node_modules/.cache/dsh-bench/search-child.mjs'),
    banner: {
      js: "import { createRequire as require$ } from 'node:module'; const require = require$(import.meta.url);",
    },
    logLevel: 'error',
  })
  return dir
}

const excluded = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'].flatMap((name) => [
  `--glob=!**/${name}`,
  `--glob=!**/${name}/**`,
])
const ratio = (name, args, argv) => async (bench) => {
  const dir = await prepare(bench)
  const script = path.join(root, 'node_modules/.cache/dsh-bench/search-child.mjs')
  const run = spawnSync(process.execPath, [script, dir, name, JSON.stringify(args), JSON.stringify(argv)], {
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(run.stderr)
  const { toolMs, rgMs } = JSON.parse(run.stdout)
  return { value: toolMs / rgMs, toolMs, rgMs }
}
const target = { text: '≤ 1.15 × rg', reached: (value) => value <= 1.15 }

export const rows = [
  {
    name: 'grep-100k',
    what: 'grep over 100 000 files, 100 matches: time as a multiple of ripgrep alone',
    unit: '× rg',
    // The child measures both several times, in turn.
    once: true,
    target,
    measure: ratio('grep', { pattern: 'needle' }, ['--no-config', '--json', '--crlf', '--regexp=needle']),
  },
  {
    name: 'glob-100k',
    what: 'glob of 10 000 names among 100 000 files: time as a multiple of ripgrep alone',
    unit: '× rg',
    // The child measures both several times, in turn.
    once: true,
    target,
    measure: ratio('glob', { pattern: '*.ts' }, [
      '--no-config',
      '--files',
      '--null',
      '--glob=*.ts',
      '--sort=modified',
      '--no-ignore',
      '--hidden',
      ...excluded,
    ]),
  },
]
