import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ended, Place, rows, says } from './dsh.ts'

const exitRow = (config: string) => `- insert: [{id: exit, name: ${rows}/exit.mjs, config: ${config}}]`
const runs = Number(process.env['DSH_EXIT_RUNS'] ?? (process.env['DSH_LONG'] === '1' ? 100 : 8))

describe('the end of the program', () => {
  test(`an exit asked for soon after the start is kept every time, ${runs} of ${runs}`, async () => {
    const place = new Place()
    for (let i = 0; i < runs; i++) {
      place.profile('p', exitRow(`{code: 7, ms: ${Math.round((i * 300) / runs)}}`))
      expect((await place.run(['--profile', 'p'])).code).toBe(7)
    }
  }, 60_000)

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s disposes the rows and exits with %i', async (signal, code) => {
    const place = new Place()
    place.profile('p', `- insert: [{id: show, name: ${rows}/show.mjs}]`)
    const child = place.start(['--profile', 'p'])
    const end = ended(child)
    await says(child, 'SHOW', 'stderr')
    await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill(signal)
    expect(await end).toEqual({ code, stdout: '', stderr: 'SHOW undefined\nGONE\n' })
  })

  test('a second signal does not wait for a slow disposal', async () => {
    const place = new Place()
    place.profile('p', `- insert: [{id: slow, name: ${rows}/slow.mjs, config: {ms: 20000}}]`)
    const child = place.start(['--profile', 'p'])
    const end = ended(child)
    await says(child, 'ready')
    const started = Date.now()
    child.kill('SIGINT')
    setTimeout(() => child.kill('SIGINT'), 300)
    expect((await end).code).toBe(130)
    expect(Date.now() - started).toBeLessThan(3000)
  })

  test('a disposal that hangs is cut off after five seconds', async () => {
    const place = new Place()
    place.profile('p', `- insert: [{id: slow, name: ${rows}/slow.mjs, config: {ms: 20000}}]`)
    const child = place.start(['--profile', 'p'])
    const end = ended(child)
    await says(child, 'ready')
    const started = Date.now()
    child.kill('SIGTERM')
    expect((await end).code).toBe(143)
    expect(Date.now() - started).toBeGreaterThan(4500)
    expect(Date.now() - started).toBeLessThan(9000)
  })

  test('a late rejection is told with its row’s name, the rows are disposed, the code is 1', async () => {
    const place = new Place()
    place.profile('p', `- insert: [{id: show, name: ${rows}/show.mjs}, {id: late, name: ${rows}/late.mjs}]`)
    const { code, stderr } = await place.run(['--profile', 'p'])
    expect(code).toBe(1)
    expect(stderr).toBe(`SHOW undefined\ndsh: row late (${rows}/late.mjs): late rejection\nGONE\n`)
  })

  test('a composition in which nothing keeps running ends by itself and says so', async () => {
    const place = new Place()
    const row = place.write('work/quiet.mjs', 'export async function apply() {}')
    place.profile('p', `- insert: [{id: quiet, name: ${row}}]`)
    expect(await place.run(['--profile', 'p'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'dsh: no row of profile "p" keeps running; see --dump-config\n',
    })
  })
})

describe('diagnostics', () => {
  const chatty =
    "export async function apply(ctx) { for (const l of ['error', 'warn', 'info', 'debug']) ctx.logger[l](l); ctx.appExit(0) }"
  test.each([
    [[], {}, ['error', 'warn']],
    [['--quiet'], {}, ['error']],
    [['--verbose'], {}, ['error', 'warn', 'info', 'debug']],
    [[], { DSH_LOG: 'info' }, ['error', 'warn', 'info']],
    [[], { DSH_LOG: 'silent' }, []],
  ])('%j with %j prints %j', async (flags, env, lines) => {
    const place = new Place()
    const row = place.write(
      'work/chatty.mjs',
      chatty.replace('ctx.appExit(0)', 'ctx.hostReady.wait().then(() => ctx.appExit(0))'),
    )
    place.profile('p', `- insert: [{id: chatty, name: ${row}}]`)
    const { stderr } = await place.run(['--profile', 'p', ...flags], { env })
    // Who asks for everything is told what runs, too.
    const what = lines.length < 4 ? '' : `dsh: profile "p" of ${place.home}: 1 rows from tb\n`
    expect(stderr).toBe(what + lines.map((level) => `dsh: chatty: ${level}\n`).join(''))
  })

  test('a level that there is none of is told, and the usual one used', async () => {
    const place = new Place()
    place.profile('p', `- insert: [{id: chatty, name: ${place.write('work/chatty.mjs', chatty)}}]`)
    const { stderr } = await place.run(['--profile', 'p'], { env: { DSH_LOG: 'loud' } })
    expect(stderr).toMatch(/^dsh: DSH_LOG=loud is no level: silent, error, warn, info, debug; warn is used\n/)
  })

  test('a stack is for those who ask with DSH_DEBUG', async () => {
    const place = new Place()
    const row = place.write('work/boom.mjs', "export async function apply() { throw new Error('boom') }")
    place.profile('p', `- insert: [{id: boom, name: ${row}}]`)
    expect((await place.run(['--profile', 'p'])).stderr).toBe(`dsh: row boom (${row}, tb): boom (${row}:1)\n`)
    expect((await place.run(['--profile', 'p'], { env: { DSH_DEBUG: '1' } })).stderr).toContain('    at ')
  })
})

describe('layers', () => {
  test('the home’s file wins over the profile’s, the profile’s over the bundle’s, --patch over all', async () => {
    const place = new Place()
    place.profile(
      'p',
      `- insert: [{id: show, name: ${rows}/show.mjs, config: {v: bundle}}, {id: x, name: ${rows}/exit.mjs}]`,
    )
    const shown = async (...args: string[]) => (await place.run(['--profile', 'p', ...args])).stderr.split('\n')[0]
    expect(await shown()).toBe('SHOW {"v":"bundle"}')
    place.write('home/profiles/p/cordis.patch.yml', '- {id: show, config: {v: profile}}')
    expect(await shown()).toBe('SHOW {"v":"profile"}')
    place.write('home/cordis.patch.yml', '- {id: show, config: {v: home}}')
    expect(await shown()).toBe('SHOW {"v":"home"}')
    place.write('work/a.yml', '- {id: show, config: {v: a}}')
    place.write('work/b.yml', '- {id: show, config: {v: b}}')
    expect(await shown('--patch', 'a.yml', '--patch', 'b.yml')).toBe('SHOW {"v":"b"}')
    place.write('home/settings.yaml', 'show: {w: settings}')
    expect(await shown('--patch', 'a.yml')).toBe('SHOW {"v":"a","w":"settings"}')
    expect(await shown('--safe')).toBe('SHOW {"v":"bundle"}')
  })

  test('relative rows of a bundle stand beside the bundle, and includes bring their own rows', async () => {
    const place = new Place()
    place.profile(
      'p',
      '- insert: [{id: here, name: ./here.mjs}, {id: inc, name: "cordis:include", config: {path: ./rows.yml, patches: [{id: inner, config: {v: patched}}]}}]',
    )
    const dir = 'home/profiles/p/node_modules/tb'
    place.write(
      `${dir}/here.mjs`,
      "export async function apply(ctx) { process.stdout.write('here '); ctx.hostReady.wait().then(() => ctx.appExit(0)) }",
    )
    place.write(`${dir}/rows.yml`, '- {id: inner, name: ./inner.mjs, config: {v: file}}')
    place.write(
      `${dir}/inner.mjs`,
      'export async function apply(ctx, config) { process.stdout.write(JSON.stringify(config)) }',
    )
    const { code, stdout } = await place.run(['--profile', 'p'])
    expect(code).toBe(0)
    expect(stdout.split(' ').sort().join('')).toContain('here')
    expect(stdout).toContain('{"v":"patched"}')
  })

  test('an out-of-tree package is found from the profile’s directory, by its import condition', async () => {
    const place = new Place()
    place.profile('p', '- insert: [{id: out, name: out-of-tree/sub}]')
    place.write(
      'home/profiles/p/node_modules/out-of-tree/package.json',
      JSON.stringify({ name: 'out-of-tree', type: 'module', exports: { './sub': { import: './sub.js' } } }),
    )
    place.write(
      'home/profiles/p/node_modules/out-of-tree/sub.js',
      "export async function apply(ctx) { process.stdout.write('found'); ctx.hostReady.wait().then(() => ctx.appExit(0)) }",
    )
    expect(await place.run(['--profile', 'p'])).toEqual({ code: 0, stdout: 'found', stderr: '' })
  })
})

describe('the environment files', () => {
  const names = ['FOO_T', 'BAR_T', 'BAZ_T', 'EMPTY_T']
  const setup = () => {
    const place = new Place()
    const config = `{${names.map((name) => `${name}: !env ${name}`).join(', ')}}`
    place.profile(
      'p',
      `- insert: [{id: show, name: ${rows}/show.mjs, config: ${config}}, {id: x, name: ${rows}/exit.mjs}]`,
    )
    return place
  }

  test('what is inherited wins, then the project’s, then the home’s', async () => {
    const place = setup()
    place.write('work/.env', 'FOO_T=project\nBAZ_T=project\n')
    place.write('home/.env', 'FOO_T=home\nBAR_T=home\n')
    const { stderr } = await place.run(['--profile', 'p'], { env: { BAZ_T: 'inherited' } })
    expect(stderr.split('\n')[0]).toBe('SHOW {"FOO_T":"project","BAR_T":"home","BAZ_T":"inherited"}')
  })

  test.each(['PATH', 'dsh_x', 'https_proxy', 'NODE_OPTIONS', 'DEEPSEEK_BASE_URL', 'XDG_CONFIG_HOME', 'GIT_SSH'])(
    'a line that sets %s refuses the start',
    async (name) => {
      const place = setup()
      const file = place.write('work/.env', `OK=1\n${name}=x\n`)
      const { code, stdout, stderr } = await place.run(['--profile', 'p'])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`dsh: ${file} sets "${name}", which only the launching environment may set`)
      expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    },
  )

  test('a .env that is no file is a warning', async () => {
    const place = setup()
    place.write('work/.env/x', '')
    const { code, stderr } = await place.run(['--profile', 'p'])
    expect(code).toBe(0)
    expect(stderr).toContain('dsh: failed to load .env: EISDIR')
  })
})

describe('live changes', () => {
  test('edits of the profile’s, the home’s and the settings file reach a running surface; bad ones are told and kept out', async () => {
    const place = new Place()
    const show = `{id: show, name: ${rows}/show.mjs, config: {v: bundle}}`
    place.profile('p', `- insert: [${show}, {id: surface, name: ${rows}/surface.mjs}]`)
    const child = place.start(['--profile', 'p'])
    const end = ended(child)
    const told: string[] = []
    child.stdout?.on('data', (text: string) =>
      told.push(...text.split('\n').filter((line) => line.startsWith('RELOAD'))),
    )
    await says(child, 'ready')
    const change = async (file: string, text: string) => {
      const count = told.length
      writeFileSync(join(place.home, file), text)
      for (let i = 0; told.length === count; i++) {
        if (i > 250) throw new Error(`no word about ${file}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return told.at(-1)
    }
    expect(await change('profiles/p/cordis.patch.yml', '- {id: show, config: {v: profile}}')).toContain(
      '"changed":["show"]',
    )
    expect(await change('cordis.patch.yml', 'x: [')).toContain('"ok":false,"reason":"')
    expect(await change('cordis.patch.yml', '- {id: show, merge: {h: home}}')).toContain('"changed":["show"]')
    expect(await change('settings.yaml', 'show: {s: 1}')).toContain('"changed":["show"]')
    child.kill('SIGTERM')
    const { code, stderr } = await end
    expect(code).toBe(143)
    expect(stderr.split('\n').filter((line) => line.startsWith('SHOW'))).toEqual([
      'SHOW {"v":"bundle"}',
      'SHOW {"v":"profile"}',
      'SHOW {"v":"profile","h":"home"}',
      'SHOW {"v":"profile","h":"home","s":1}',
    ])
  })
})
