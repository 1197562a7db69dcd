// Writes dist/compiled.bin, which packages/host/cli/bin/compiled.js runs: every chunk of the build as CommonJS, and for
// those that one task needs the code that V8 made of them while it ran.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import compiled from '../packages/host/cli/bin/compiled.js'

const { engine, openCompiled } = compiled
const self = fileURLToPath(import.meta.url)

/** `chunks` are name and text of each file of the build; `banner` is what each begins with; `startModel` gives a model. */
export async function writeCompiled({ dist, chunks, banner, external, startModel }) {
  const file = join(dist, 'compiled.bin')
  const sources = new Map(
    await Promise.all(chunks.map(async ([name, text]) => [name, await asFunction(name, text, banner, external)])),
  )
  if (!chunks.some(([, text]) => text.includes('import(specifier)'))) throw new Error('no importModule in the bundle')
  const scratch = mkdtempSync(join(tmpdir(), 'dsh-build-'))
  try {
    writePack(join(scratch, 'compiled.bin'), sources, new Map())
    const codes = await codesOfOneTask(scratch, dist, startModel)
    writePack(`${file}.new`, sources, codes)
    renameSync(`${file}.new`, file)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** One chunk as the text of a function expression. Relative imports become names of chunks. */
async function asFunction(name, text, banner, external) {
  const plain = text.startsWith(banner) ? text.slice(banner.length) : text
  const foreign = new RegExp(`\\bimport\\(("(?:${external.join('|')})"|specifier)\\)`, 'g')
  const named = plain
    .replace(foreign, 'module.import($1)')
    .replace(/((?:\bfrom|\bimport\(|\bimport)\s*)"(\.\.?\/[^"]+\.js)"/g, (_, before, to) => {
      return `${before}"${posix.join(dirname(name), to)}"`
    })
  const { code } = await transform(named, {
    format: 'cjs',
    target: 'node20',
    platform: 'node',
    minifySyntax: true,
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'module.url' },
  })
  const source = `(function(exports,require,module){${code}\n})`
  // One byte a character: what is read is what V8 keeps.
  if (/[^\0-\x7f]/.test(source)) throw new Error(`${name} is not ASCII`)
  return source
}

function writePack(file, sources, codes) {
  const parts = [...sources].map(([name, source]) => [name, Buffer.from(source, 'latin1'), codes.get(name)])
  const width = Buffer.byteLength(indexOf(parts, 9_999_999_999))
  const index = indexOf(parts, 8 + width).padEnd(width)
  const blobs = parts.flatMap(([, source, code]) => (code === undefined ? [source] : [source, code]))
  writeFileSync(file, Buffer.concat([Buffer.from(String(width).padStart(8)), Buffer.from(index), ...blobs]))
}

function indexOf(parts, start) {
  let at = start
  const chunks = {}
  for (const [name, source, code] of parts) {
    chunks[name] = [at, source.length, code?.length ?? 0]
    at += source.length + (code?.length ?? 0)
  }
  return JSON.stringify({ engine, chunks })
}

/** Runs one task in a home of its own, in a process of its own, and gives the code of every chunk that it loaded. */
async function codesOfOneTask(scratch, dist, startModel) {
  const model = await startModel()
  try {
    const out = join(scratch, 'codes')
    for (const name of ['home', 'ws', 'codes']) mkdirSync(join(scratch, name))
    writeFileSync(join(scratch, 'ws/a.txt'), 'a\n')
    const child = spawn(process.execPath, [self, scratch, dist, '--profile', 'headless', 'go'], {
      cwd: join(scratch, 'ws'),
      env: {
        PATH: process.env.PATH,
        HOME: join(scratch, 'home'),
        DSH_HOME: join(scratch, 'home'),
        DEEPSEEK_BASE_URL: model.url,
        DEEPSEEK_API_KEY: 'build',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (data) => {
      said += data
    })
    const code = await new Promise((done) => child.once('close', done))
    if (code !== 0) throw new Error(`the task that the code is compiled for failed: ${said}`)
    const names = JSON.parse(readFileSync(join(out, 'names.json'), 'utf8'))
    return new Map(names.map((name, at) => [name, readFileSync(join(out, String(at)))]))
  } finally {
    await model.close()
  }
}

if (process.argv[1] === self) {
  const [scratch, dist, ...words] = process.argv.splice(2)
  process.argv.push(...words)
  const scripts = []
  process.once('exit', () => {
    const out = join(scratch, 'codes')
    for (const [at, [, script]] of scripts.entries()) writeFileSync(join(out, String(at)), script.createCachedData())
    writeFileSync(join(out, 'names.json'), JSON.stringify(scripts.map(([name]) => name)))
  })
  openCompiled(dist, (name, script) => scripts.push([name, script]), join(scratch, 'compiled.bin'))('main.js')
}
