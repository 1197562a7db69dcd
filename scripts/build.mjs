// Bundles the command: one small entry, a chunk per lazy import, and beside them everything that is no code.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const cli = join(root, 'packages/host/cli')
const dist = join(cli, 'dist')

const result = await build({
  absWorkingDir: root,
  entryPoints: [join(cli, 'src/main.ts')],
  outdir: dist,
  write: false,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  entryNames: '[name]',
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

// The new files go in first and the old ones out last, so that a program that starts meanwhile finds its chunks.
const written = new Set()
for (const file of result.outputFiles) {
  mkdirSync(dirname(file.path), { recursive: true })
  writeFileSync(file.path, file.contents)
  written.add(file.path)
}
for (const name of readdirSync(dist)) {
  const file = join(dist, name)
  if (name.endsWith('.js') && !written.has(file)) rmSync(file)
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
const landlock = join(root, 'packages/sandbox/landlock-run/dist/landlock-run')
if (existsSync(landlock)) cpSync(landlock, join(assets, 'landlock-run'))
