// `npm run docs` writes docs/reference/ from the built program and its sources; `--check` says what is not current.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bin, root } from './ready.mjs'

const out = path.join(root, 'docs/reference')
const scratch = mkdtempSync(path.join(os.tmpdir(), 'dsh-docs-'))
const note = '<!-- Written by scripts/docs.mjs (npm run docs). Do not edit. -->\n'

const packages = readdirSync(path.join(root, 'packages')).flatMap((room) =>
  readdirSync(path.join(root, 'packages', room)).map((name) => readPackage(path.join('packages', room, name))),
)
const builtins = readBuiltins()
const profiles = readdirSync(path.join(root, 'profiles')).sort()

try {
  const mounted = mountedRows()
  const pages = {
    'rows.md': rowsPage(mounted),
    'config.md': await configPage(mounted),
    'tools.md': await toolsPage(),
    'events.md': eventsPage(),
    'errors.md': errorsPage(),
  }
  const stale = Object.entries(pages).filter(([name, text]) => read(path.join(out, name)) !== text)
  if (process.argv.includes('--check')) {
    for (const [name] of stale) console.error(`docs/reference/${name} is not current: run "npm run docs"`)
    process.exitCode = stale.length === 0 ? 0 : 1
  } else {
    mkdirSync(out, { recursive: true })
    for (const [name, text] of stale) writeFileSync(path.join(out, name), text)
    console.log(stale.length === 0 ? 'docs/reference is current' : `wrote ${stale.map(([name]) => name).join(', ')}`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function readPackage(dir) {
  const { name, description } = JSON.parse(readFileSync(path.join(root, dir, 'package.json'), 'utf8'))
  const sources = readdirSync(path.join(root, dir, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => path.join(dir, 'src', file))
  return { name, description, dir, sources }
}

/** Row packages with the services that they provide, in the order of the program's own table. */
function readBuiltins() {
  const text = readFileSync(path.join(root, 'packages/host/cli/src/builtins.ts'), 'utf8')
  const entries = text.matchAll(/'(@dsh\/[^']+)':\s*\{\s*load:[^}]*?(?:provides: \[([^\]]*)\][^}]*)?\}/g)
  return [...entries].map(([, name, provides = '']) => ({
    name,
    provides: [...provides.matchAll(/'([^']+)'/g)].map(([, key]) => key),
  }))
}

/** Row id → package, config and the profiles that mount it, as a home without files gives them. */
function mountedRows() {
  const rows = new Map()
  for (const profile of profiles) {
    const words = ['--profile', profile, '--dump-config', '--json']
    const dump = spawnSync(process.execPath, [bin, ...words], { encoding: 'utf8', env: environment() })
    if (dump.status !== 0) throw new Error(`dsh ${words.join(' ')}: ${dump.stderr}`)
    for (const row of JSON.parse(dump.stdout)) {
      const known = rows.get(row.id) ?? { id: row.id, package: row.name, in: [], config: row.config }
      if (row.disabled !== true) known.in.push(profile)
      rows.set(row.id, known)
    }
  }
  return [...rows.values()]
}

function rowsPage(mounted) {
  const lines = mounted.map((row) => {
    const at = packageOf(row.package)
    const provides = builtins.find(({ name }) => name === row.package)?.provides ?? []
    const where = profiles.every((profile) => row.in.includes(profile)) ? 'all' : row.in.join(', ') || '(off)'
    return cells(`\`${row.id}\``, link(at, row.package), at.description, ticks(provides), where)
  })
  const idle = builtins
    .filter(({ name }) => !mounted.some((row) => row.package === name))
    .map(({ name, provides }) =>
      cells('', link(packageOf(name), name), packageOf(name).description, ticks(provides), '—'),
    )
  return page(
    'Rows',
    'Every row that comes with the program: its id, its package, the services that it provides, and the profiles in which it runs.',
    table(['id', 'package', 'what it is', 'provides', 'profiles'], [...lines, ...idle]),
  )
}

async function configPage(mounted) {
  const parts = []
  for (const { name } of builtins) {
    const file = path.join(root, 'packages/host/cli/dist/rows', `${name.slice('@dsh/'.length)}.js`)
    const { Config } = await import(pathToFileURL(file))
    if (Config === undefined) continue
    const schema = Config['~standard'].jsonSchema.input({ libraryOptions: { unrepresentable: 'any' } })
    const fields = fieldsOf(schema)
    if (fields.length === 0) continue
    const at = packageOf(name)
    const meanings = meaningsIn(at)
    const ids = mounted.filter((row) => row.package === name).map((row) => row.id)
    const lines = fields.map(([key, field]) =>
      cells(`\`${key}\``, typeOf(field), defaultOf(field), meanings.get(key) ?? field.description ?? ''),
    )
    const where = ids.length === 0 ? 'No profile mounts it.' : `Row ${ids.map((id) => `\`${id}\``).join(', ')}.`
    parts.push(`## ${name}\n\n${where} ${link(at, 'README')}\n\n${table(['key', 'value', 'default', ''], lines)}`)
  }
  return page(
    'Config',
    'What a patch may set under `config:` or `merge:` of a row, read from the schema that each row is checked against. Rows that are not listed take no config.',
    parts.join('\n'),
  )
}

function fieldsOf(schema) {
  const object = schema.properties ? schema : (schema.anyOf ?? schema.allOf ?? []).find((one) => one.properties)
  return Object.entries(object?.properties ?? {})
}

function typeOf(field) {
  if (field.const !== undefined) return `\`${JSON.stringify(field.const)}\``
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ')
  const either = field.anyOf ?? field.oneOf
  if (either !== undefined && either.length > 3) return `one of ${either.length} shapes`
  if (either !== undefined) return either.map(typeOf).join(' or ')
  if (field.type === 'array') return `list of ${typeOf(field.items ?? {})}`
  if (field.type === 'object') {
    const keys = Object.keys(field.properties ?? {})
    return keys.length === 0 ? 'map' : `map of ${keys.map((key) => `\`${key}\``).join(', ')}`
  }
  const lowest = field.exclusiveMinimum === undefined ? field.minimum : `more than ${field.exclusiveMinimum}`
  const safe = (bound) => bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER
  const range = [safe(lowest) ? '' : `${lowest}`, safe(field.maximum) ? '' : `${field.maximum}`]
  const bounds =
    range[1] === ''
      ? range[0] === ''
        ? ''
        : `, ${/^more/.test(range[0]) ? '' : 'from '}${range[0]}`
      : `, ${range[0] || '…'} to ${range[1]}`
  return `${field.type ?? (typeof field.default === 'number' ? 'number' : 'anything')}${bounds}`
}

function defaultOf(field) {
  if (field.default === undefined) return ''
  const text = JSON.stringify(field.default)
  return text.length > 100 ? 'see the README' : `\`${text}\``
}

/** What the package's README says about a key, else the comment above it in the schema. */
function meaningsIn({ dir, sources }) {
  const found = new Map()
  let told = true
  for (const file of sources) {
    const text = readFileSync(path.join(root, file), 'utf8')
    for (const [, comment, key] of text.matchAll(/\/\*\* ((?:(?!\*\/)[\s\S])*?) ?\*\/\s*(\w+): z\b/g)) {
      found.set(key, comment.replace(/\s*\n\s*\*\s*/g, ' '))
    }
  }
  for (const line of readFileSync(path.join(root, dir, 'README.md'), 'utf8').split('\n')) {
    const columns = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    // A table that ends with its defaults says nothing about meanings.
    if (/^default/.test(columns.at(-2) ?? '')) told = false
    if (columns.length < 3) told = true
    if (!told) continue
    for (const [, key] of (columns[1] ?? '').matchAll(/`(\w+)`/g)) {
      if (columns.length > 3 && columns.at(-2) !== '') found.set(key, columns.at(-2))
    }
  }
  return found
}

async function toolsPage() {
  const patch = path.join(scratch, 'patch.yml')
  writeFileSync(patch, '- id: tool-fs\n  merge: { applyPatch: true }\n')
  const offered = [
    ['the default composition', await offeredTools(['--profile', 'headless'])],
    ['`tool-fs` with `applyPatch: true`', await offeredTools(['--profile', 'headless', '--patch', patch])],
    ['the profile `minimal`', await offeredTools(['--profile', 'minimal'])],
  ]
  const seen = new Set()
  const parts = offered.flatMap(([where, tools]) => {
    const fresh = tools.filter((tool) => !seen.has(JSON.stringify(tool)))
    for (const tool of fresh) seen.add(JSON.stringify(tool))
    return fresh.map(
      (tool) =>
        `## ${tool.name}\n\nIn ${where}.\n\n${fence('text', tool.description)}\n\n${fence('json', JSON.stringify(tool.parameters, null, 2))}\n`,
    )
  })
  return page(
    'Tools',
    'What a model is offered: the description and the schema of each tool, as the built program sends them.',
    parts.join('\n'),
  )
}

/** The tools in the first request of the built program, taken by a server that answers anything with one word. */
async function offeredTools(words) {
  const bodies = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.on('data', (data) => {
      body += data
    })
    request.on('end', () => {
      bodies.push(JSON.parse(body))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = { choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }] }
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = {
    ...environment(),
    DEEPSEEK_API_KEY: 'k',
    DEEPSEEK_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  }
  const child = spawn(process.execPath, [bin, ...words, 'go'], {
    cwd: scratch,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await new Promise((resolve) => child.once('close', resolve))
  server.close()
  const tools = bodies.find((body) => body.tools !== undefined)?.tools
  if (tools === undefined) throw new Error(`dsh ${words.join(' ')} offered no tools`)
  return tools.map((tool) => tool.function)
}

function eventsPage() {
  const bus = packages.flatMap((one) => {
    return one.sources.flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      const blocks = [...text.matchAll(/^ {2}interface Events \{\n([\s\S]*?)^ {2}\}/gm)].map(([, body]) => body)
      return blocks.flatMap((body) =>
        [...body.matchAll(/(?: {4}\/\*\* ((?:(?!\*\/)[\s\S])*?) ?\*\/\n)? {4}'([^']+)'/g)].map(
          ([, comment = '', event]) =>
            cells(`\`${event}\``, link(one, one.name), comment.replace(/\s*\n\s*\*\s*/g, ' ')),
        ),
      )
    })
  })
  const known = read(path.join(root, 'packages/agent/session/src/known-types.ts'))
  const types = [...known.slice(known.indexOf('knownTypes:')).matchAll(/^ {2}'([^']+)'/gm)].map(([, type]) => type)
  const written = new Map()
  for (const one of packages) {
    for (const file of one.sources) {
      for (const [, type] of read(path.join(root, file)).matchAll(/append\(\s*'([a-z-]+(?:\/[a-z-]+)+)'/g)) {
        written.set(type, new Set([...(written.get(type) ?? []), one]))
      }
    }
  }
  const log = [...new Set([...types, ...written.keys()])]
    .filter((type) => written.has(type))
    .sort()
    .map((type) =>
      cells(
        `\`${type}\``,
        [...written.get(type)].map((one) => link(one, one.name)).join(', '),
        types.includes(type) ? '' : 'ignorable',
      ),
    )
  const readOnly = types.filter((type) => !written.has(type)).map((type) => `\`${type}\``)
  return page(
    'Events',
    'Two kinds: events that rows hear while the program runs, and events that stand in a session log.',
    `## On the bus\n\n${table(['event', 'declared by', 'what it says'], bus)}\n## In the log\n\nTheir data: [the log of a session](../log-format.md). A reader that does not know an *ignorable* one skips it.\n\n${table(['type', 'written by', ''], log)}\nRead, and written elsewhere or by closers and seeds: ${readOnly.join(', ')}.\n`,
  )
}

function errorsPage() {
  const parts = packages.flatMap((one) => {
    const codes = new Map()
    for (const file of one.sources) {
      const text = read(path.join(root, file))
      if (path.basename(file) === 'errors.ts') {
        const entries = text.matchAll(
          /(?: *\/\*\* ((?:(?!\*\/)[\s\S])*?) ?\*\/\n)? {2}(\w+): (?:'([^'\n]*)'|"([^"\n]*)"),/g,
        )
        for (const [, comment, key, single, double] of entries) {
          const value = single ?? double
          const code = [value, key].find((word) => /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(word) && word.length > 2)
          if (code !== undefined) codes.set(code, comment ?? (/ /.test(value) ? value : ''))
        }
      }
      for (const [, code] of text.matchAll(/new DshError\(\s*'([A-Z][A-Z0-9_]+)'/g)) {
        if (!codes.has(code)) codes.set(code, '')
      }
    }
    if (codes.size === 0) return []
    const lines = [...codes].map(([code, text]) => cells(`\`${code}\``, text.replace(/\s*\n\s*\*\s*/g, ' ')))
    return [`## ${one.name}\n\n${table(['code', ''], lines)}`]
  })
  return page(
    'Error codes',
    'The codes that stand in logs, in result documents and behind `dsh:` on stderr, by the package that gives them.',
    parts.join('\n'),
  )
}

function packageOf(name) {
  const plain = name.split('/').slice(0, 2).join('/')
  const found = packages.find((one) => one.name === plain)
  if (found === undefined) throw new Error(`no package ${plain}`)
  return found
}

function link(one, text) {
  return `[${text}](../../${one.dir}/README.md)`
}

function ticks(names) {
  return names.map((name) => `\`${name}\``).join(', ')
}

function cells(...texts) {
  return `| ${texts.map((text) => text.replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`
}

function table(heads, lines) {
  return `${[cells(...heads), cells(...heads.map(() => '---')), ...lines].join('\n')}\n`
}

function fence(language, text) {
  const marks = text.includes('```') ? '````' : '```'
  return `${marks}${language}\n${text}\n${marks}`
}

function page(title, about, body) {
  return `${note}\n# ${title}\n\n${about}\n\n${body.trimEnd()}\n`
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Nothing of the person who runs this finds its way into a page. */
function environment() {
  return { PATH: process.env.PATH, HOME: scratch, DSH_HOME: path.join(scratch, 'home') }
}
