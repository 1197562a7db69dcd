// What stands in the command's package before `npm pack` reads it: a build without the chunks of earlier ones, the
// declarations of its sdk, the pages of `docs/` and the session of the demo. `--stage DIR` puts all of it into DIR instead, as it is to be published.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './ready.mjs'
import { writeSdkTypes } from './sdk-types.mjs'

const cli = path.join(root, 'packages/host/cli')
const asked = process.argv.indexOf('--stage')
const stage = asked === -1 ? undefined : path.resolve(process.argv[asked + 1])
const dist = path.join(stage ?? cli, 'dist')

if (stage !== undefined) {
  mkdirSync(stage, { recursive: true })
  for (const name of ['bin', 'README.md']) cpSync(path.join(cli, name), path.join(stage, name), { recursive: true })
  const { devDependencies, scripts, ...manifest } = JSON.parse(readFileSync(path.join(cli, 'package.json'), 'utf8'))
  writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(path.join(root, 'LICENSE'), path.join(stage, 'LICENSE'))
  // What messages of the program name, and the session that `dsh demo` plays.
  for (const name of ['docs', 'fixtures/fix-a-failing-test'])
    cpSync(path.join(root, name), path.join(stage, name), { recursive: true })
}
for (const name of existing(dist)) {
  if (name.endsWith('.js')) rmSync(path.join(dist, name))
}
const build = spawnSync(process.execPath, [path.join(root, 'scripts/build.mjs'), '--out', dist], { stdio: 'inherit' })
if (build.status !== 0) process.exit(build.status ?? 1)
writeSdkTypes(path.join(dist, 'sdk'))

function existing(dir) {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}
