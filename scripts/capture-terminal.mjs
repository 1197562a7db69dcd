// Plays short scenes on the built program in tmux and puts the screens into docs/terminal.md, between its markers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const page = join(root, 'docs/terminal.md')
const begin = '<!-- captures: written by scripts/capture-terminal.mjs -->'
const end = '<!-- end of captures -->'

const work = mkdtempSync(join(tmpdir(), 'dsh-capture-build-'))
try {
  const outfile = join(work, 'captures.mjs')
  await build({
    entryPoints: [join(root, 'packages/surfaces/terminal/tests/captures.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  })
  const { capture } = await import(pathToFileURL(outfile).href)
  const captures = await capture(`${process.execPath} ${join(root, 'packages/host/cli/bin/dsh.js')}`)
  const text = captures.map(({ title, text }) => `**${title}**\n\n~~~~text\n${text}\n~~~~`).join('\n\n')
  const before = readFileSync(page, 'utf8')
  const [head, rest] = before.split(begin)
  writeFileSync(page, `${head}${begin}\n\n${text}\n\n${end}${rest.split(end)[1]}`)
  console.log(`${captures.length} screens written to docs/terminal.md`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
