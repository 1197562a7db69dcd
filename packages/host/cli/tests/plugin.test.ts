import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { startMockServer } from '@dsh/llm-mock-server'
import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { Place } from './dsh.ts'

const examples = resolve(import.meta.dirname, '../../../../examples')
const hello = join(examples, 'plugin-hello')
const replace = join(examples, 'replace-rows')
const names = ['agent-loop', 'tools', 'session-persistence-jsonl', 'llm-deepseek']

beforeAll(async () => {
  const shared = { bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' } as const
  await build({ ...shared, entryPoints: [join(hello, 'src/index.ts')], outfile: join(hello, 'dist/index.js') })
  await build({
    ...shared,
    entryPoints: names.map((name) => join(replace, `src/${name}.ts`)),
    outdir: join(replace, 'dist'),
    external: ['sharp'],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  })
}, 60_000)

const manifest = (place: Place, profile = 'headless') =>
  JSON.parse(readFileSync(join(place.home, 'profiles', profile, 'package.json'), 'utf8'))
const plugin = (place: Place, ...args: string[]) => place.run(['plugin', '--profile', 'headless', ...args])

/** pnpm is preferred where it is there; npm's turn is where it is not. */
const hasPnpm = spawnSync('pnpm', ['--version']).status === 0
const npmOnly = () => {
  const dirs = (process.env['PATH'] ?? '').split(delimiter)
  return dirs.filter((dir) => !existsSync(join(dir, 'pnpm'))).join(delimiter)
}
const managers = [
  { manager: 'npm', present: true, env: { PATH: npmOnly() }, lock: 'package-lock.json' },
  { manager: 'pnpm', present: hasPnpm, env: {}, lock: 'pnpm-lock.yaml' },
]

for (const { manager, present, env: managed, lock } of managers)
  describe.skipIf(!present)(`an out-of-tree plugin, with ${manager}`, () => {
    test('is added from its checkout, used by the model, changed by a patch and removed again', async () => {
      const place = new Place(managed)
      const added = await plugin(place, 'add', hello)
      expect(added.stderr).toContain('dsh: initialized profile headless at ')
      expect(added.stderr).toContain('dsh: dsh-plugin-hello is a layer of this profile now')
      expect(added.code).toBe(0)
      expect(existsSync(join(place.home, 'profiles/headless', lock))).toBe(true)
      expect(manifest(place).dsh.profile.bundles).toEqual([
        '@dsh/bundle-base',
        '@dsh/bundle-headless',
        'dsh-plugin-hello',
      ])

      place.write('home/profiles/headless/cordis.patch.yml', '- {id: hello, config: {greeting: Moin}}')
      const server = await startMockServer({
        steps: [{ calls: [{ name: 'hello', args: { who: 'Ada' } }] }, { text: 'greeted' }],
      })
      const env = { DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'k' }
      const ran = await place.run(['-p', 'I am Ada'], { env })
      await server.close()
      expect(ran).toEqual({ code: 0, stdout: 'greeted\n', stderr: '' })
      const requests = server.requests.filter((request) => !request.side).map((request) => request.body)
      expect(requests[0].tools.map((tool: any) => tool.function.name)).toContain('hello')
      expect(requests[0].messages[0].content).toContain('Greet people with the hello tool')
      expect(requests[1].messages.at(-1)).toMatchObject({ role: 'tool', content: 'Moin, Ada!' })

      place.write('home/profiles/headless/cordis.patch.yml', '[]')
      expect((await plugin(place, 'remove', 'dsh-plugin-hello')).code).toBe(0)
      expect(manifest(place).dsh.profile.bundles).toEqual(['@dsh/bundle-base', '@dsh/bundle-headless'])
      expect((await place.run(['--profile', 'headless', '--dump-config'])).stdout).not.toContain('hello')
    }, 120_000)

    test('a failed add leaves the profile as it was', async () => {
      const place = new Place(managed)
      await place.run(['profile', 'new', 'headless'])
      const before = manifest(place)
      const failed = await plugin(place, 'add', './not-there')
      expect(failed.code).not.toBe(0)
      expect(failed.stderr).toContain('the profile is as it was')
      expect(manifest(place)).toEqual(before)

      const clash = place.write(
        'work/clash/package.json',
        JSON.stringify({ name: 'clash', version: '1.0.0', dsh: { bundle: { patch: './p.yml' } } }),
      )
      place.write('work/clash/p.yml', '- insert: [{id: tools, name: mine}]')
      const refused = await plugin(place, 'add', './clash')
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain('duplicate row id "tools"')
      expect(manifest(place)).toEqual(before)
      expect(existsSync(join(place.home, 'profiles/headless/node_modules/clash'))).toBe(false)
      expect(existsSync(clash)).toBe(true)
    }, 120_000)

    test.each([
      { main: './dist/index.js' },
      { exports: './dist/index.js' },
      { exports: { '.': { import: './dist/index.js' } } },
    ])(
      'a package that is not built yet (%j) is refused with what is missing',
      async (entry) => {
        const place = new Place(managed)
        await place.run(['profile', 'new', 'headless'])
        const before = manifest(place)
        const bundle = { name: 'unbuilt', version: '1.0.0', ...entry, dsh: { bundle: { patch: './p.yml' } } }
        place.write('work/unbuilt/package.json', JSON.stringify(bundle))
        place.write('work/unbuilt/p.yml', '- insert: [{id: unbuilt, name: unbuilt}]')
        const refused = await plugin(place, 'add', './unbuilt')
        expect(refused.code).toBe(1)
        expect(refused.stderr).toMatch(
          /dsh: unbuilt: its file \/.*dist\/index\.js is not there; build the package, or correct/,
        )
        expect(manifest(place)).toEqual(before)
        place.write('work/unbuilt/dist/index.js', 'module.exports = { apply() {} }')
        expect((await plugin(place, 'add', './unbuilt')).code).toBe(0)
      },
      120_000,
    )

    test('a package without a bundle is installed and told to be no layer', async () => {
      const place = new Place(managed)
      place.write('work/plain/package.json', JSON.stringify({ name: 'plain', version: '1.0.0' }))
      const { code, stderr } = await plugin(place, 'add', './plain')
      expect(code).toBe(0)
      expect(stderr).toContain('dsh: warning: plain declares no dsh.bundle — installed as a plain dependency')
      expect(manifest(place).dsh.profile.bundles).toEqual(['@dsh/bundle-base', '@dsh/bundle-headless'])
      const listed = await plugin(place, 'list')
      expect(listed.stdout).toContain('plain')
    }, 120_000)
  })

test('without a package manager it says what to install', async () => {
  const place = new Place({ PATH: '/nonexistent' })
  expect(await plugin(place, 'add', 'x')).toEqual({
    code: 127,
    stdout: '',
    stderr: 'dsh: neither pnpm nor npm found on PATH — install one to manage profile plugins\n',
  })
  expect(existsSync(place.home)).toBe(false)
})

test('nothing is privileged: loop, log, model and tools are replaced by rows from outside', async () => {
  const place = new Place()
  place.write('work/f.txt', 'content\n')
  const server = await startMockServer({
    steps: [{ calls: [{ name: 'read', args: { file_path: 'f.txt' } }] }, { text: 'read it' }],
  })
  const env = { DEEPSEEK_BASE_URL: server.url, DEEPSEEK_API_KEY: 'k' }
  const { code, stdout, stderr } = await place.run(['--patch', join(replace, 'patch.yml'), '-p', 'read'], { env })
  await server.close()
  expect(stderr.trim().split('\n').sort()).toEqual([...names].sort().map((name) => `my-${name} runs`))
  expect([code, stdout]).toEqual([0, 'read it\n'])
  expect(existsSync(join(place.home, 'sessions'))).toBe(true)
}, 60_000)
