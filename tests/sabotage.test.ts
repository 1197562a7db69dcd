import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { tempWorkspace } from '@dsh/testkit'
import { build, type Plugin } from 'esbuild'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const dsh = path.join(root, 'packages/host/cli/bin/dsh.js')
const fixtures = ['edit-conflict', 'search', 'unread-file', 'todo', 'parallel-reads']

/** Rows that break one thing each, the way a careless change would. */
const rows = {
  'an-error-string.mjs': `
    ctx.on('tools/post-execute', async (exec, result, next) => {
      const content = result.content.map((b) => ({ ...b, text: b.text.replace('a more specific', 'another') }))
      return result.isError ? { kind: 'accept', content } : await next()
    })`,
  'a-files-bytes.mjs': `
    const { appendFileSync } = await import('node:fs')
    ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      if (exec.name === 'write' && !result.isError) appendFileSync(exec.arguments.file_path, ' ')
      return result
    })`,
}

async function failing(patch: string): Promise<{ names: string[]; findings: string }> {
  const place = await tempWorkspace({ 'patch.yml': patch })
  for (const [name, body] of Object.entries(rows))
    await place.write(name, `export const inject = ['tools']\nexport const apply = async (ctx) => {${body}\n}\n`)
  const words = fixtures.map((name) => path.join('fixtures', name))
  const run = spawnSync(process.execPath, [dsh, 'replay', ...words, '--json', '--patch', place.path('patch.yml')], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const failed = JSON.parse(run.stdout).fixtures.filter((fixture: { ok: boolean }) => !fixture.ok)
  return {
    names: failed.map((fixture: { name: string }) => fixture.name),
    findings: failed.flatMap((f: any) => f.findings.map((x: any) => `${x.title}\n${x.detail}`)).join('\n'),
  }
}

/** The loop as it is, but for the results of a batch: they are logged last to first. */
const lastToFirst: Plugin = {
  name: 'last to first',
  setup(b) {
    b.onLoad({ filter: /agent-loop\/src\/tool-calls\.ts$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8')
      const contents = source
        .replace('this.commit(call, seq, result)', 'late.unshift(() => this.commit(call, seq, result))')
        .replace('await this.commits\n', 'await this.commits\n    for (const commit of late.splice(0)) commit()\n')
      expect(contents.match(/late/g)).toHaveLength(2)
      return { contents: `const late: (() => void)[] = []\n${contents}`, loader: 'ts' }
    })
  },
}

test('another order of parallel results fails the scenarios whose model asks for several things at once', async () => {
  const place = await tempWorkspace()
  await build({
    entryPoints: [path.join(root, 'packages/agent/agent-loop/src/index.ts')],
    outfile: place.path('loop.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    plugins: [lastToFirst],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  })
  const loop = JSON.stringify(place.path('loop.mjs'))
  const { names, findings } = await failing(
    `- {id: agent-loop, disabled: true}\n- insert: [{id: saboteur, name: ${loop}}]\n`,
  )
  expect(names).toEqual(['search', 'parallel-reads'])
  expect(findings).toMatch(/request 2 \(turn 1, step 2\)/)
}, 60_000)

test('a changed error string fails the one scenario in which a model reads it, at that request', async () => {
  const { names, findings } = await failing('- insert: [{ id: saboteur, name: ./an-error-string.mjs }]\n')
  expect(names).toEqual(['edit-conflict'])
  expect(findings).toMatch(
    /request 3 \(turn 1, step 3\)[\s\S]*\n-.*provide a more specific old_string[\s\S]*\n\+.*provide another old_string/,
  )
}, 60_000)

test('a changed schema fails the scenarios that call the tool', async () => {
  const { names, findings } = await failing(
    '- id: tool-fs-search\n  merge: { globMaxResults: 90 }\n- id: tool-todo\n  merge: { allowParallelInProgress: false }\n',
  )
  expect(names).toContain('todo')
  expect(names).not.toContain('edit-conflict')
  expect(findings).toMatch(/what the model is told before the first message has changed\n--- recorded tool schemas/)
}, 60_000)

test('a changed byte in a written file fails the scenario that writes it, and names the file', async () => {
  const { names, findings } = await failing('- insert: [{ id: saboteur, name: ./a-files-bytes.mjs }]\n')
  expect(names).toEqual(['unread-file'])
  expect(findings).toMatch(/the tree differs: AUTHORS \(content\)[\s\S]* Ada\n\+ \n/)
}, 60_000)
