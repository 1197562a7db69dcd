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
const work = mkdtempSync(path.join(os.tmpdir(), 'dsh-mock-'))
const outfile = path.join(work, 'mock.mjs')
await build({
  entryPoints: [path.join(root, 'packages/testing/llm-mock-server/src/index.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
})
const { parseSteps, startMockServer } = await import(pathToFileURL(outfile).href)
rmSync(work, { recursive: true })

const server = await startMockServer({ steps: readSteps() })
console.log(`export DEEPSEEK_BASE_URL=${server.url} DEEPSEEK_API_KEY=mock`)

function readSteps() {
  if (file === undefined)
    return [{ text: 'Let me look.', calls: [look] }, { text: 'I am a recorded answer: the listing above is real.' }]
  try {
    return parseSteps(readFileSync(file, 'utf8'), file)
  } catch (error) {
    const reason = { ENOENT: 'there is no such file', EISDIR: 'it is a directory' }[error.code]
    console.error(`error: ${reason === undefined ? error.message : `${file}: ${reason}`}`)
    process.exit(1)
  }
}
