// `npm run mock-model [-- steps.json]`: a model on loopback that says what a file tells it to, for trying things without a
// key. Without a file it looks at the directory with bash and answers. Prints what to export; Ctrl+C ends it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './ready.mjs'

const file = process.argv[2]
const look = { name: 'bash', args: { command: 'ls -la', description: 'List the directory' } }
const steps =
  file === undefined
    ? [{ text: 'Let me look.', calls: [look] }, { text: 'I am a recorded answer: the listing above is real.' }]
    : JSON.parse(readFileSync(file, 'utf8'))

const work = mkdtempSync(path.join(os.tmpdir(), 'dsh-mock-'))
const outfile = path.join(work, 'mock.mjs')
await build({
  entryPoints: [path.join(root, 'packages/testing/llm-mock-server/src/index.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
})
const { startMockServer } = await import(pathToFileURL(outfile).href)
rmSync(work, { recursive: true })

const server = await startMockServer({ steps })
console.log(`export DEEPSEEK_BASE_URL=${server.url} DEEPSEEK_API_KEY=mock`)
