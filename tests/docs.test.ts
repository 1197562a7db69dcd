import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { tempWorkspace } from '@dsh/testkit'
import { expect, test } from 'vitest'
import { parseArgv } from '../packages/host/cli/src/argv.ts'
import { commands } from '../packages/host/cli/src/commands/command.ts'

const root = path.resolve(import.meta.dirname, '..')
const dsh = path.join(root, 'packages/host/cli/bin/dsh.js')
const run = promisify(execFile)

/** Every text that a reader of the repository may open; recorded workspaces are data. */
const documents = textsBelow('').filter((file) => !/^(fixtures|node_modules)\//.test(file))

function textsBelow(dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(dir, entry.name)
    if (entry.isDirectory()) return /^(node_modules|dist|\.git|fixtures)$/.test(entry.name) ? [] : textsBelow(name)
    return entry.name.endsWith('.md') ? [name] : []
  })
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

const fences = /^(`{3,}|~{3,})(\w*)\n([\s\S]*?)^\1$/gm

function prose(file: string): string {
  return read(file).replace(fences, '')
}

/** The anchor that a forge gives a heading. */
function anchors(file: string): string[] {
  const headings = [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}

test('every relative link in a document leads to a file, and to a heading where it names one', () => {
  const broken = documents.flatMap((file) => {
    const links = [...prose(file).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    return links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [target = '', anchor] = link.split('#')
        const to = target === '' ? file : path.join(path.dirname(file), target)
        if (!existsSync(path.join(root, to))) return true
        return anchor !== undefined && !anchors(to).includes(anchor)
      })
      .map((link) => `${file} → ${link}`)
  })
  expect(broken).toEqual([])
})

test('every path of this tree that a document names is there', () => {
  const paths = /`((?:docs|packages|scripts|tests|examples|fixtures|bench|bundles|profiles|vendor)\/[\w./-]+)`/g
  const gone = documents
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) =>
      [...prose(file).matchAll(paths)]
        .map(([, named = '']) => named)
        .filter(
          (named) => !existsSync(path.join(root, named)) && !existsSync(path.join(root, path.dirname(file), named)),
        )
        .map((named) => `${file} names ${named}`),
    )
  expect(gone).toEqual([])
})

interface Command {
  readonly file: string
  readonly words: readonly string[]
}

/** Command lines in shell blocks: what stands before a comment, at the start or behind `|`, `&&` or an assignment. */
function commandLines(file: string): Command[] {
  return [...read(file).matchAll(fences)]
    .filter(([, , language = '']) => ['', 'sh', 'bash'].includes(language))
    .flatMap(([, , , body = '']) => body.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split(/\s*(?:\||&&|;)\s*/))
    .map((part) => words(part.replace(/^(\$ |([A-Z_]+=\S*\s+)+)/, '')))
    .map((found) => (found[0] === 'npx' ? found.slice(1) : found))
    .map((found) => ({ file, words: found }))
}

/** The words of a command as a shell would give them. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}

const lines = documents.flatMap(commandLines)

test('every dsh command in a document parses, and every flag in it is one that its help tells', async () => {
  const home = await tempWorkspace()
  const env = { PATH: process.env['PATH'], HOME: home.root, DSH_HOME: home.path('dsh') }
  const asked = new Map<string, Promise<string>>()
  const help = (...which: string[]) => {
    const key = which.join(' ')
    const known =
      asked.get(key) ?? run(process.execPath, [dsh, ...which, '--help'], { env }).then(({ stdout }) => stdout)
    asked.set(key, known)
    return known
  }
  const used = lines.filter(({ words }) => words[0] === 'dsh')
  expect(used.length).toBeGreaterThan(30)
  const wrong: string[] = []
  for (const { file, words } of used) {
    const args = words.slice(1)
    const complain = (why: string) => wrong.push(`${file}: dsh ${args.join(' ')}: ${why}`)
    try {
      const request = parseArgv(args, Object.keys(commands))
      if (request.kind !== 'command' && request.kind !== 'launch') continue
      const helps =
        request.kind === 'command'
          ? [await help(request.name)]
          : [await help(), await help('--profile', 'headless'), await help('--profile', 'terminal')]
      const text = helps.join('\n')
      if (request.kind === 'command' && / {2}\w/.test(text) && /^\w+$/.test(request.args[0] ?? '')) {
        const subcommands = [...text.matchAll(/^ {2}(\w+)[ \n]/gm)].map(([, name]) => name)
        const isTask = /"task"|<row>|bash\|zsh/.test(text.split('\n')[0] as string)
        if (subcommands.length > 0 && !isTask && !subcommands.includes(request.args[0])) {
          complain(`${request.name} has no command ${request.args[0]}`)
        }
      }
      const flags = request.args
        .slice(0, [...request.args, '--'].indexOf('--'))
        .filter((word) => /^--?[a-z]/i.test(word))
      for (const flag of flags.map((word) => word.split('=')[0] as string)) {
        if (!new RegExp(`(^|[\\s,([])${flag}(?![\\w-])`, 'm').test(text)) complain(`no help tells ${flag}`)
      }
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error))
    }
  }
  expect(wrong).toEqual([])
}, 120_000)

test('every npm script and every file that a document runs is there', () => {
  const wrong = lines.flatMap(({ file, words: [program, first = '', second = ''] }) => {
    const beside = path.join(path.dirname(file), 'package.json')
    const manifest = JSON.parse(read(existsSync(path.join(root, beside)) ? beside : 'package.json'))
    const at = `${file}: ${program} ${first} ${second}`
    if (program === 'npm' && first === 'run' && !(second in manifest.scripts)) return [at]
    if (program === 'npm' && !['run', 'test', 'ci', 'i', 'install', 'pack', 'link'].includes(first)) return [at]
    if (program === 'node' && /^[\w./-]+$/.test(first) && !first.startsWith('-')) {
      const there = [root, path.join(root, path.dirname(file))].some((dir) => existsSync(path.join(dir, first)))
      return there ? [] : [at]
    }
    return []
  })
  expect(wrong).toEqual([])
})

test('the pages in docs/reference are those that the program and its sources give', async () => {
  const checked = await run(process.execPath, [path.join(root, 'scripts/docs.mjs'), '--check']).catch(
    (failed) => failed,
  )
  expect(checked.stderr).toBe('')
}, 120_000)

test('every package, bundle and example says on one screen what it is', () => {
  const rooms = readdirSync(path.join(root, 'packages')).map((room) => `packages/${room}`)
  const dirs = [...rooms, 'bundles', 'vendor', 'examples'].flatMap((parent) =>
    readdirSync(path.join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((dir) => statSync(path.join(root, dir)).isDirectory()),
  )
  const silent = dirs.filter((dir) => !existsSync(path.join(root, dir, 'README.md')))
  expect(silent).toEqual([])
  const long = dirs.filter((dir) => read(`${dir}/README.md`).split('\n').length > 60)
  expect(long).toEqual([])
})

test('a file of more than 400 lines says in its first comment why', () => {
  const sources = /\.(ts|mjs|js|c)$/
  const below = (dir: string): string[] =>
    readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
      const name = path.posix.join(dir, entry.name)
      if (entry.isDirectory()) return /^(node_modules|dist|bin)$/.test(entry.name) ? [] : below(name)
      return sources.test(entry.name) ? [name] : []
    })
  const long = ['packages', 'vendor', 'scripts', 'tests', 'bench', 'examples']
    .flatMap(below)
    .filter((file) => read(file).split('\n').length > 401)
  const unexplained = long.filter(
    (file) => !/^(\/\*[\s\S]*?\*\/|(\/\/.*\n)+)/.exec(read(file))?.[0].includes('one file'),
  )
  expect(unexplained).toEqual([])
})
