// Writes dist/compiled.bin, which packages/host/cli/bin/compiled.js runs: every chunk of the build as CommonJS, and for
// those that one task needs the code that V8 made of them while it ran.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'
import { transform } from 'esbuild'
import compiled from '../packages/host/cli/bin/compiled.js'

const { engine, openCompiled, together } = compiled
const self = fileURLToPath(import.meta.url)

/**
 * `chunks` are name and text of each file of the build; `banner` is what each begins with; `later` is the chunk that is
 * loaded when somebody uses it; `startModel` gives a model that makes the calls given, then answers; `calls` are those
 * whose code is worth compiling.
 */
export async function writeCompiled({ dist, chunks, banner, external, later, calls, startModel }) {
  const file = join(dist, 'compiled.bin')
  const sources = new Map(
    await Promise.all(
      chunks.map(async ([name, text]) => [name, await asFunction(name, text, banner, external, later)]),
    ),
  )
  if (!chunks.some(([, text]) => text.includes('import(specifier)'))) throw new Error('no importModule in the bundle')
  const scratch = mkdtempSync(join(tmpdir(), 'dsh-build-'))
  try {
    const trial = join(scratch, 'compiled.bin')
    writePack(trial, sources, {})
    const { started } = await oneTask(scratch, dist, () => startModel([]), [])
    const lines = joinSources(sources, started)
    writePack(trial, sources, lines)
    // A patch brings the YAML parser and the schemas along: its users get their code compiled as well.
    const patch = join(scratch, 'patch.yml')
    writeFileSync(patch, '- id: headless-runner\n  config:\n    maxJobWaitMs: 60001\n')
    const { codes } = await oneTask(scratch, dist, () => startModel(calls), ['--patch', patch])
    writePack(`${file}.new`, sources, lines, codes)
    renameSync(`${file}.new`, file)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** One chunk as the text of a function expression. Relative imports become names of chunks. */
async function asFunction(name, text, banner, external, later) {
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
    define: { 'import.meta.url': 'module.url', 'import.meta.frame': 'module.frame' },
  })
  const source = `(function(exports,require,module){${withoutCopies(code, later)}\n})`
  // One byte a character: what is read is what V8 keeps.
  if (/[^\0-\x7f]/.test(source)) throw new Error(`${name} is not ASCII`)
  return source
}

/**
 * esbuild copies the exports of a module, getter by getter, once to give it the mark of an ES module, and again for
 * everyone who imports all of it. Chunks mark what they have, and one of Node's modules lends it. Those that most runs
 * never use are not even loaded.
 */
function withoutCopies(code, later) {
  return code
    .replace(
      /\bmodule\.exports=__toCommonJS\((\w+)\)/,
      'module.exports=Object.defineProperty($1,"__esModule",{value:!0})',
    )
    .replace(/\b__toESM\(require\("node:(child_process|v8|zlib)"\)\)/g, 'module.later("node:$1")')
    .replace(/\brequire\("node:(child_process|v8|zlib)"\)/g, 'module.later("node:$1")')
    .replace(/\b__toESM\(require\("node:([\w/]+)"\)\)/g, '({__proto__:require("node:$1"),default:require("node:$1")})')
    .replaceAll(`require("${later}")`, `module.later("${later}")`)
    .replace(/\b__toESM\((require\("(?!node:)[^"]+\.js"\))\)/g, '$1')
}

/** Moves the sources named into one script of their own, an object of functions; gives the first line of each. */
function joinSources(sources, names) {
  const lines = {}
  let text = '({'
  for (const name of names) {
    text += `\n${JSON.stringify(name)}:`
    lines[name] = text.split('\n').length
    text += `${sources.get(name)},`
    sources.delete(name)
  }
  sources.set(together, `${text}\n})`)
  return lines
}

function writePack(file, sources, lines, codes = new Map()) {
  const parts = [...sources].map(([name, source]) => [name, Buffer.from(source, 'latin1'), codes.get(name)])
  const width = Buffer.byteLength(indexOf(parts, lines, 9_999_999_999))
  const index = indexOf(parts, lines, 8 + width).padEnd(width)
  const blobs = parts.flatMap(([, source, code]) => (code === undefined ? [source] : [source, code]))
  writeFileSync(file, Buffer.concat([Buffer.from(String(width).padStart(8)), Buffer.from(index), ...blobs]))
}

function indexOf(parts, lines, start) {
  let at = start
  const chunks = {}
  for (const [name, source, code] of parts) {
    chunks[name] = [at, source.length, code?.length ?? 0]
    at += source.length + (code?.length ?? 0)
  }
  return JSON.stringify({ engine, chunks, lines })
}

/**
 * Runs one task in a home of its own, in a process of its own. Gives the code of every script that it loaded, and the
 * names of those that only a task loads: what comes with the entry has to serve `--version` as well.
 */
async function oneTask(scratch, dist, startModel, options) {
  const model = await startModel()
  const run = mkdtempSync(join(scratch, 'run-'))
  try {
    for (const name of ['home', 'ws', 'codes']) mkdirSync(join(run, name))
    writeFileSync(join(run, 'ws/a.txt'), 'a\n')
    const words = [join(scratch, 'compiled.bin'), join(run, 'codes'), dist, '--profile', 'headless', ...options, 'go']
    const child = spawn(process.execPath, [self, ...words], {
      cwd: join(run, 'ws'),
      env: {
        PATH: process.env.PATH,
        HOME: join(run, 'home'),
        DSH_HOME: join(run, 'home'),
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
    const { names, entry } = JSON.parse(readFileSync(join(run, 'codes/names.json'), 'utf8'))
    const codes = new Map(names.map((name, at) => [name, readFileSync(join(run, 'codes', String(at)))]))
    return { started: names.slice(entry), codes }
  } finally {
    await model.close()
  }
}

if (process.argv[1] === self) {
  const [pack, out, dist, ...words] = process.argv.splice(2)
  process.argv.push(...words)
  // Code that was made under other flags than those of a start is refused at every start.
  v8.setFlagsFromString = () => {}
  const scripts = []
  let entry = 0
  process.once('exit', () => {
    for (const [at, [, script]] of scripts.entries()) writeFileSync(join(out, String(at)), script.createCachedData())
    writeFileSync(join(out, 'names.json'), JSON.stringify({ names: scripts.map(([name]) => name), entry }))
  })
  openCompiled(dist, (name, script) => scripts.push([name, script]), pack)('main.js')
  entry = scripts.length
}
