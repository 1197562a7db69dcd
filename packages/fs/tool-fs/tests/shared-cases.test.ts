import * as nodeFs from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RowSpec } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'
import { type Bench, bench } from './bench.ts'

/** The black-box cases, played on the rows in this process: one process start less per case than the probe. */
const shared = process.env['DSH_SHARED'] ?? fileURLToPath(new URL('../../../../../shared', import.meta.url))
const file = join(shared, 'cases/fs.json')

interface Case {
  readonly name: string
  readonly files?: Record<string, unknown>
  readonly setup?: string
  readonly env?: Record<string, string>
  readonly args?: readonly string[]
  readonly steps: readonly { readonly calls?: readonly { readonly name: string; readonly args: unknown }[] }[]
  readonly expect?: readonly unknown[]
  readonly after?: Record<string, unknown>
  readonly post?: string
}

const known = new Set(['read', 'write', 'edit', 'apply_patch', 'str_replace_editor', 'glob', 'grep', 'bash'])
const cases: readonly Case[] = nodeFs.existsSync(file) ? JSON.parse(nodeFs.readFileSync(file, 'utf8')) : []
const tools = (one: Case) => one.steps.flatMap((step) => step.calls ?? []).map((call) => call.name)
const playable = cases.filter(
  (one) => tools(one).every((name) => known.has(name)) && one.name !== 'fs-spill-large-result',
)
const parent = join(homedir(), '.tool-fs-tests')

describe.skipIf(cases.length === 0)('the shared file cases', () => {
  it.each(playable.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    nodeFs.mkdirSync(parent, { recursive: true })
    const top = nodeFs.realpathSync(nodeFs.mkdtempSync(join(parent, 'c-')))
    const map: Record<string, string> = { W: join(top, 'w'), H: join(top, 'home') }
    nodeFs.mkdirSync(map['W'] as string)
    nodeFs.mkdirSync(map['H'] as string)
    const sub = (text: string) => text.replace(/\{(W|H)\}/g, (whole, key: string) => map[key] ?? whole)
    lay(one.files ?? {}, map['W'] as string, sub)
    const extra = await rowsFor(one)
    const table: Bench = await bench({
      top,
      mode: one.env?.['DSH_PERMISSION_MODE'],
      toolFs: one.args === undefined ? {} : { applyPatch: tools(one).includes('apply_patch') },
      rows: extra,
    })
    try {
      if (one.setup !== undefined) table.bash(sub(one.setup))
      const results: string[] = []
      for (const call of one.steps.flatMap((step) => step.calls ?? [])) {
        const raw = typeof call.args === 'string' ? call.args : JSON.stringify(call.args)
        const args = sub(raw)
        if (call.name !== 'bash') results.push(await table.text(call.name, args))
        else results.push(table.bash((JSON.parse(args) as { command: string }).command) || '(no output)')
      }
      ;(one.expect ?? []).forEach((wanted, index) => {
        check(results[index] ?? '<no result>', wanted, map, sub, `result ${index}`)
      })
      verify(one.after ?? {}, map['W'] as string, sub)
      if (one.post !== undefined) {
        const out = table.bash(`export H=${map['H']} W=${map['W']}; ( ${sub(one.post)} ) || echo POST-FAILED`)
        expect(out).not.toContain('POST-FAILED')
      }
    } finally {
      await table.dispose()
    }
  })
})

/** The rows beside the file tools that a case calls. */
async function rowsFor(one: Case): Promise<RowSpec[]> {
  const names = new Set(tools(one))
  const rows: RowSpec[] = [{ module: await import('@dsh/user-approval'), config: { policy: 'ask' } }]
  if (names.has('glob') || names.has('grep'))
    rows.push(
      { module: await import('@dsh/subprocess-local') },
      { module: await import('@dsh/spill-local') },
      { module: await import('@dsh/tool-fs-search'), config: { sampleOverCapGlobResults: false } },
    )
  if (names.has('str_replace_editor')) rows.push({ module: await import('@dsh/tool-str-replace-editor') })
  return rows
}

function lay(files: Record<string, unknown>, root: string, sub: (text: string) => string): void {
  for (const [name, spec] of Object.entries(files)) {
    const path = resolve(root, sub(name))
    nodeFs.mkdirSync(dirname(path), { recursive: true })
    const v = spec as Record<string, any>
    if (typeof spec === 'string') nodeFs.writeFileSync(path, sub(spec))
    else if (v['dir']) nodeFs.mkdirSync(path, { recursive: true })
    else if (v['link']) nodeFs.symlinkSync(sub(v['link']), path)
    else if (v['base64'] !== undefined) nodeFs.writeFileSync(path, Buffer.from(v['base64'], 'base64'))
    else if (v['repeat']) nodeFs.writeFileSync(path, (v['repeat'][0] as string).repeat(v['repeat'][1]))
    else nodeFs.writeFileSync(path, v['text'])
    if (v['mode']) nodeFs.chmodSync(path, Number.parseInt(v['mode'], 8))
  }
}

function check(
  got: string,
  want: unknown,
  map: Record<string, string>,
  sub: (text: string) => string,
  what: string,
): void {
  if (want === null || want === undefined) return
  if (typeof want === 'string') {
    expect(got, what).toBe(sub(want))
    return
  }
  const w = want as Record<string, any>
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  if (w['re'] !== undefined)
    expect(got, what).toMatch(
      new RegExp(
        (w['re'] as string).replace(/\{(W|H)\}/g, (_whole, key: string) => escaped(map[key] as string)),
        's',
      ),
    )
  for (const has of [w['has'] ?? []].flat()) expect(got, what).toContain(sub(has))
  for (const not of [w['not'] ?? []].flat()) expect(got, what).not.toContain(sub(not))
  if (w['first'] !== undefined) expect(got.split('\n')[0], what).toBe(sub(w['first']))
  if (w['max'] !== undefined) expect(Buffer.byteLength(got), what).toBeLessThanOrEqual(w['max'])
}

function verify(after: Record<string, unknown>, root: string, sub: (text: string) => string): void {
  for (const [name, want] of Object.entries(after)) {
    const path = resolve(root, sub(name))
    const w = want as Record<string, any>
    if (typeof want === 'string') expect(nodeFs.readFileSync(path, 'utf8'), name).toBe(sub(want))
    else if (w['absent']) expect(nodeFs.existsSync(path), `${name} exists`).toBe(false)
    else if (w['base64'] !== undefined) expect(nodeFs.readFileSync(path).toString('base64'), name).toBe(w['base64'])
    else if (w['link']) expect(nodeFs.lstatSync(path).isSymbolicLink(), name).toBe(true)
    if (w['mode']) expect((nodeFs.statSync(path).mode & 0o777).toString(8), name).toBe(w['mode'])
  }
}
