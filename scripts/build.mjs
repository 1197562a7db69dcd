// Bundles the command: one small entry, a chunk per row and per lazy import, and beside them everything that is no code.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const cli = join(root, 'packages/host/cli')
const dist = join(cli, 'dist')

// Rows are entries of their own, so that a stack names them.
const names = [...readFileSync(join(cli, 'src/builtins.ts'), 'utf8').matchAll(/import\('(@dsh\/[^']+)'\)/g)]
const rows = names.map(([, name]) => ({ in: name, out: `rows/${name.slice('@dsh/'.length)}` }))

const result = await build({
  absWorkingDir: root,
  entryPoints: [{ in: join(cli, 'src/main.ts'), out: 'main' }, ...rows],
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
  external: ['@vscode/ripgrep', 'sharp'],
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: { js: "import{createRequire as $r}from'node:module';const require=$r(import.meta.url);" },
  logLevel: 'warning',
})

// Chunks of earlier builds stay for ten minutes: a program that is running may still ask for one.
const written = new Set()
for (const file of result.outputFiles) {
  mkdirSync(dirname(file.path), { recursive: true })
  writeFileSync(file.path, file.contents)
  written.add(file.path)
}
for (const name of readdirSync(dist)) {
  const file = join(dist, name)
  const old = () => Date.now() - statSync(file).mtimeMs > 600_000
  if (name.endsWith('.js') && !written.has(file) && old()) rmSync(file)
}

const assets = join(dist, 'assets')
rmSync(assets, { recursive: true, force: true })
for (const bundle of readdirSync(join(root, 'bundles'))) {
  if (!existsSync(join(root, 'bundles', bundle, 'cordis.patch.yml'))) continue
  for (const file of ['package.json', 'cordis.patch.yml']) {
    cpSync(join(root, 'bundles', bundle, file), join(assets, 'bundles', bundle, file))
  }
}
cpSync(join(root, 'profiles'), join(assets, 'profiles'), { recursive: true })
cpSync(join(root, 'packages/sandbox/landlock-run/bin'), join(assets, 'landlock-run'), { recursive: true })
