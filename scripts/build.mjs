// Bundles the command: one small entry, a chunk per row and per lazy import, and beside them everything that is no code.
// `--out DIR` builds into another directory than the command's own dist.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { writeCompiled } from './compiled.mjs'
import { bundlesOf, configsOf } from './configs.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const cli = join(root, 'packages/host/cli')
const asked = process.argv.indexOf('--out')
const dist = asked === -1 ? join(cli, 'dist') : resolve(process.argv[asked + 1])
mkdirSync(dist, { recursive: true })

// Rows are entries of their own, so that a stack names them.
const names = [...readFileSync(join(cli, 'src/builtins.ts'), 'utf8').matchAll(/import\('(@dsh\/[^']+)'\)/g)]
const rows = names.map(([, name]) => ({ in: name, out: `rows/${name.slice('@dsh/'.length)}` }))

const external = ['@lydell/node-pty', '@vscode/ripgrep', 'sharp']

// Some dependencies are CommonJS and ask for Node's own modules by `require`.
const banner = {
  js: "import{createRequire as __dshRequire}from'node:module';const require=__dshRequire(import.meta.url);",
}

/**
 * Two habits of cordis' own build cost more than the rest of a start: it gives functions the name that they have, on
 * every call of its hottest paths, and it makes errors for their stacks, to splice them into one that may be thrown.
 */
const plainCordis = {
  name: 'plain-cordis',
  setup(hooks) {
    hooks.onLoad({ filter: /[/\\]cordis[/\\]lib[/\\]index\.js$/ }, ({ path }) => {
      const contents = [
        [/^var __name = .*$/m, 'var __name = (target) => target;'],
        [/const outerError = new Error\(\);\n\s*return .*$/m, 'return () => [];'],
        [/info = \{ offset: 1, error: new Error\(\) \}/, "info = { offset: 1, error: { stack: '' } }"],
      ].reduce(
        (text, [from, to]) => {
          if (!from.test(text)) throw new Error(`${path} has no ${from} any more`)
          return text.replace(from, to)
        },
        readFileSync(path, 'utf8'),
      )
      return { contents, loader: 'js' }
    })
  },
}

const result = await build({
  // pnpm links the rows below the command only.
  absWorkingDir: cli,
  entryPoints: [{ in: join(cli, 'src/main.ts'), out: 'main' }, { in: join(cli, 'src/sdk.ts'), out: 'sdk' }, ...rows],
  metafile: true,
  outdir: dist,
  write: false,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  chunkNames: '[name]-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  define: { DSH_DIST: 'true' },
  plugins: [plainCordis],
  external,
  banner,
  logLevel: 'warning',
})

const outputs = result.outputFiles.map((file) => ({ path: file.path, contents: file.contents, mode: 0o644 }))
const source = await importSource(
  'packages/host/compose/src/index.ts',
  'packages/host/host/src/plugin.ts',
  'packages/host/host/src/interpolate.ts',
  'packages/host/cli/src/known-configs.ts',
)
const layers = new Map()
for (const bundle of readdirSync(join(root, 'bundles'))) {
  const patch = join(root, 'bundles', bundle, 'cordis.patch.yml')
  if (!existsSync(patch)) continue
  const layer = {
    label: `@dsh/bundle-${bundle}`,
    kind: 'bundle',
    file: source.compiledFile,
    text: readFileSync(patch, 'utf8'),
  }
  layers.set(bundle, source.readLayer(layer))
  const compiled = Buffer.from(source.layerToJson(layers.get(bundle)))
  outputs.push({ path: join(dist, 'assets/bundles', bundle, 'layer.json'), contents: compiled, mode: 0o644 })
  for (const file of ['package.json', 'cordis.patch.yml']) {
    asset(join(root, 'bundles', bundle, file), join('bundles', bundle, file))
  }
}
assetTree(join(root, 'profiles'), 'profiles')
assetTree(join(root, 'packages/sandbox/landlock-run/bin'), 'landlock-run')

outputs.push({ path: join(dist, 'third-party.txt'), contents: Buffer.from(thirdParty()), mode: 0o644 })

// Each file appears whole, and the entry last: a program that starts meanwhile finds a build that fits together.
outputs.sort((a, b) => Number(a.path === join(dist, 'main.js')) - Number(b.path === join(dist, 'main.js')))
for (const output of outputs) put(output)
await addConfigs()
await compile()

// Chunks of earlier builds stay for ten minutes: a program that is running may still ask for one.
const current = new Set([...outputs.map(({ path }) => path), join(dist, 'compiled.bin')])
for (const entry of readdirSync(dist, { withFileTypes: true, recursive: true })) {
  const file = join(entry.parentPath, entry.name)
  if (entry.isDirectory() || current.has(file) || entry.name.startsWith('.build-')) continue
  if (!file.endsWith('.js') || Date.now() - statSync(file).mtimeMs > 600_000) rmSync(file)
}

function put({ path, contents, mode }) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, contents, { mode })
  renameSync(`${path}.new`, path)
}

/** The program runs without what this writes as well, only not as soon; and so with the next. */
async function addConfigs() {
  const compositions = readdirSync(join(root, 'profiles')).map((profile) => {
    const ofProfile = bundlesOf(join(root, 'profiles', profile)).map((bundle) => layers.get(bundle))
    return source.compose(ofProfile).rows
  })
  const output = {
    path: join(dist, 'assets/configs.json'),
    contents: await configsOf({ compositions, dist, source }),
    mode: 0o644,
  }
  put(output)
  outputs.push(output)
}

async function compile() {
  const { startMockServer } = await importSource('packages/testing/llm-mock-server/src/index.ts')
  const call = (name, args) => ({ calls: [{ name, args }] })
  const calls = [call('read', { file_path: 'a.txt' }), call('bash', { command: 'true', description: 'Do nothing' })]
  const startModel = (steps) => startMockServer({ steps: [...steps, { text: 'Done.' }] })
  const chunks = result.outputFiles.map(({ path, text }) => [relative(dist, path).replaceAll('\\', '/'), text])
  try {
    const later = schemaChunk()
    await writeCompiled({
      dist,
      chunks,
      banner: banner.js,
      external,
      later,
      calls,
      startModel,
    })
  } catch (error) {
    // What an earlier build left would run instead of this one.
    rmSync(join(dist, 'compiled.bin'), { force: true })
    console.error(`build: not compiled ahead: ${error.message}`)
  }
}

/** Where the schema library is: a tenth of the code, for configs that nobody has looked at yet. */
function schemaChunk() {
  const [chunk] = Object.entries(result.metafile.outputs).find(([, { inputs }]) =>
    Object.keys(inputs).some((input) => /[/\\]zod[/\\]v4[/\\]core[/\\]core\.js$/.test(input)),
  )
  return basename(chunk)
}

/** TypeScript modules of the tree as one, for use at build time. */
async function importSource(...paths) {
  const outfile = join(dist, `.build-${process.pid}-${basename(dirname(dirname(paths[0])))}.mjs`)
  const contents = paths.map((path) => `export * from './${path}'`).join('\n')
  await build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner,
    logLevel: 'warning',
  })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile)
  }
}

/** The licences of everything from the registry that is part of the bundle, as they ask for. */
function thirdParty() {
  const dirs = new Set(
    Object.keys(result.metafile.inputs).flatMap((input) => {
      const found = /^(.*node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(input)
      return found === null ? [] : [resolve(cli, found[1])]
    }),
  )
  const parts = [...dirs].map((dir) => {
    const {
      name,
      version,
      license = 'see its package',
      author,
    } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
    const file = readdirSync(dir).find((one) => /^(licen[cs]e|copying)/i.test(one))
    const holder = typeof author === 'object' ? author.name : author
    const text =
      file === undefined ? `${license}, by ${holder ?? 'its authors'}` : readFileSync(join(dir, file), 'utf8').trim()
    return `## ${name} ${version}\n\n${text}\n`
  })
  return `Packages that are part of this program, and their licences.\n\n${parts.sort().join('\n')}`
}

function asset(from, to) {
  outputs.push({ path: join(dist, 'assets', to), contents: readFileSync(from), mode: statSync(from).mode & 0o777 })
}

function assetTree(from, to) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) assetTree(join(from, entry.name), join(to, entry.name))
    else asset(join(from, entry.name), join(to, entry.name))
  }
}
