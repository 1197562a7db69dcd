import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Place } from './dsh.ts'

type File = 'cordis.patch.yml' | 'package.json' | 'settings.yaml' | '.credentials.yaml'

const PATHS: Record<File, string> = {
  'cordis.patch.yml': 'home/profiles/headless/cordis.patch.yml',
  'package.json': 'home/profiles/headless/package.json',
  'settings.yaml': 'home/settings.yaml',
  '.credentials.yaml': 'home/.credentials.yaml',
}

/** What the program must name: a line of the file, or the key that is wrong in it. */
const BROKEN: readonly (readonly [File, string, string])[] = [
  ['cordis.patch.yml', 'foo: [unclosed', ':1: '],
  ['cordis.patch.yml', '- id: tools\n  disabeld: true', ':2: unknown key "disabeld"'],
  ['cordis.patch.yml', "- id: tools\n  disabled: 'no'", ':2: disabled must be'],
  ['cordis.patch.yml', '- insert:\n  - {id: x}', ':2: row "x" has no name'],
  ['cordis.patch.yml', '- insert: [{id: tools, name: x}]', ':1: duplicate row id "tools"'],
  ['cordis.patch.yml', '- id: tool-bash\n  config: {nope: 1}', 'row tool-bash (@dsh/tool-bash, @dsh/bundle-base, '],
  ['cordis.patch.yml', '- id: agent-loop\n  config: 5', 'row agent-loop '],
  ['cordis.patch.yml', '- id: tool-todo\n  config: !!js nope.nope', 'cordis.patch.yml:2'],
  ['cordis.patch.yml', '- insert: [{id: x, name: not-there}]', 'row x (not-there, '],
  ['cordis.patch.yml', '- insert: [{id: x, name: ./not-there.mjs}]', 'row x ('],
  [
    'cordis.patch.yml',
    '- {id: llm, disabled: true}',
    'waiting for service llm — provided by row llm, which is disabled',
  ],
  ['cordis.patch.yml', '- {id: session, remove: true}', 'waiting for service sessions — no row'],
  ['package.json', '', 'invalid JSON'],
  ['package.json', '{', 'invalid JSON'],
  ['package.json', '{"dsh": }', 'invalid JSON'],
  ['package.json', '[]', 'must hold a JSON object'],
  ['package.json', '5', 'must hold a JSON object'],
  ['package.json', 'null', 'must hold a JSON object'],
  ['package.json', '{"dsh": 5}', 'dsh must be an object'],
  ['package.json', '{"dsh": []}', 'dsh must be an object'],
  ['package.json', '{"dsh": {"profile": "x"}}', 'profile must be an object'],
  ['package.json', '{"dsh": {"profile": {"bundles": "x"}}}', 'dsh.profile.bundles must be a list'],
  ['package.json', '{"dsh": {"profile": {"bundles": [5]}}}', 'dsh.profile.bundles must be a list'],
  ['package.json', '{"dsh": {"profile": {"bundles": [""]}}}', 'dsh.profile.bundles must be a list'],
  ['package.json', '{"dsh": {"profile": {"bundles": {"a": 1}}}}', 'dsh.profile.bundles must be a list'],
  ['package.json', '{"dsh": {"profile": {"bundles": ["not-there"]}}}', 'cannot resolve profile bundle "not-there"'],
  ['package.json', '{"dsh": {"profile": {"bundles": ["@dsh/bundle-bsae"]}}}', 'cannot resolve profile bundle'],
  ['package.json', '{"dsh": {"profile": {"bundles": ["@dsh/bundle-base", "@dsh/bundle-base"]}}}', 'is listed twice'],
  ['package.json', '{"dsh": {"profile": {"bundles": []}}}', 'composes no rows'],
  ['settings.yaml', '- a', ':1: must be a mapping of namespaces'],
  ['settings.yaml', 'a: 5', ':1: a must be a mapping'],
  ['settings.yaml', 'a: {x: 1', ':'],
  ['settings.yaml', 'A: {}', ':1: "A" is no namespace'],
  ['settings.yaml', 'tools: {}\nagent-loop: [1]', ':2: agent-loop must be a mapping'],
  ['settings.yaml', 'tool-todo: {allowParallelInProgress: 5}', 'row tool-todo (@dsh/tool-todo, @dsh/bundle-base, '],
  ['settings.yaml', 'tool-todo: {allowParalel: true}', 'row tool-todo (@dsh/tool-todo, @dsh/bundle-base, '],
  ['settings.yaml', 'agent-default-model: {model: !!js x}', ':1: agent-default-model holds an expression'],
  ['settings.yaml', 'a: {}\na: {}', ':2: '],
  ['.credentials.yaml', 'refs: {KEY: s3cret}', '.credentials.yaml: must start with "version: 1"'],
  ['.credentials.yaml', 'version: 2', ':1: version must be 1'],
  ['.credentials.yaml', 'version: 1\nsecrets: {}', ':2: unknown key "secrets"'],
  ['.credentials.yaml', 'version: 1\nrefs: s3cret', ':2: refs must be a mapping'],
  ['.credentials.yaml', 'version: 1\nrefs: {KEY: 5}', ':2: refs.KEY must be a non-empty string'],
  ['.credentials.yaml', 'version: 1\nrefs: {KEY: s3cret', 'invalid YAML'],
  ['.credentials.yaml', '- s3cret', ':1: must be a mapping'],
]

test.each(BROKEN)('%s that says %j is refused in one line that tells where', async (file, text, expected) => {
  const place = new Place({ DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' })
  place.write(PATHS[file], text)
  const { code, stdout, stderr } = await place.run(['--profile', 'headless', 'hi'])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(expected)
  expect(stderr).not.toMatch(/^ {4}at |Node\.js v|s3cret/m)
  const lines = stderr.trimEnd().split('\n')
  const waiting = lines.filter((line) => line.includes('waiting for service'))
  expect(lines.length - Math.max(0, waiting.length - 1)).toBe(1)
  for (const line of lines) expect(line).toMatch(/^dsh: /)
})

const wrong = ['5', 'true', 'null', "''", 'text', '[]', '[1]', '{}', '{a: 1}', '!!js nope.nope']
const each = (...shapes: string[]) => shapes.flatMap((shape) => wrong.map((value) => shape.replace('V', value)))

/** Every value in every place; the few that mean something are left out. */
const MALFORMED: Record<File, { readonly texts: readonly string[]; readonly fine: RegExp }> = {
  'cordis.patch.yml': {
    texts: [
      ...each('V', '- V', '- {id: V}', '- insert: V', '- insert: [V]', '- insert: [{id: x, name: V}]'),
      ...each('- {id: tool-todo, disabled: V}', '- {id: tool-todo, remove: V}', '- {id: tool-todo, config: V}'),
    ],
    fine: /^(null|\[\]|''|- \{id: text\}|- insert: \[(\[\])?\]|.*(abled|emove): (true|null)\}|.*config: (null|\{\})\})$/,
  },
  'package.json': {
    texts: each('V', '{"dsh": V}', '{"dsh": {"profile": V}}', '{"dsh": {"profile": {"bundles": V}}}').concat(
      each('{"dsh": {"profile": {"bundles": [V]}}}', '{"dsh": {"profile": {"bundles": ["@dsh/bundle-base", V]}}}'),
    ),
    fine: /^$/,
  },
  'settings.yaml': {
    texts: [
      ...each('V', 'tool-todo: V', 'tool-todo: {allowParallelInProgress: V}', 'tool-todo: {nope: V}'),
      ...each(
        'spill-policy: {maxInlineBytes: V}',
        'repeat-tool-reminder: {thresholds: V}',
        'Bad Name: V',
        'session-title: V',
      ),
    ],
    fine: /^(null|''|\{\}|(tool-todo|session-title): \{\}|.*(Progress: (true|null)|Bytes: (5|null)|thresholds: null|nope: null)\})$/,
  },
  '.credentials.yaml': {
    texts: each('V', 'version: V', 'refs: V', 'version: 1\nrefs: V', 'version: 1\nrefs: {KEY: V}').concat(
      each('version: 1\nmore: V', 'version: 1\nrefs: {"a b": V}'),
    ),
    fine: /^(null|''|\{\}|version: 1\nrefs: (null|\{\}|\{KEY: text\}))$/,
  },
}
const step = process.env['DSH_LONG'] === '1' ? 1 : 9

test.each(Object.keys(MALFORMED) as File[])(
  '%s with a wrong value in any place is refused, and never with a stack',
  async (file) => {
    const { texts, fine } = MALFORMED[file]
    const broken = texts.filter((text) => !fine.test(text))
    expect(broken.length).toBeGreaterThanOrEqual(60)
    const place = new Place({ DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' })
    for (const text of broken.filter((_, i) => i % step === 0)) {
      place.write(PATHS[file], text)
      const { code, stdout, stderr } = await place.run(['--profile', 'headless', 'hi'])
      expect([text, code, stdout]).toEqual([text, 1, ''])
      expect(stderr).not.toMatch(/^ {4}at |Node\.js v/m)
      expect(stderr).toMatch(
        /^dsh: .*(cordis\.patch\.yml|package\.json|settings\.yaml|\.credentials\.yaml|row |bundle |profile ).*\n/,
      )
    }
  },
  240_000,
)

test.each([
  ['PROFILE', 'package.json', '{', []],
  ['COMPOSITION', 'cordis.patch.yml', '- id: a\n---\n- id: b', []],
  ['COMPOSITION', 'cordis.patch.yml', '- {id: nobody, disabled: true}', ['--strict']],
  ['BOOT', 'cordis.patch.yml', '- {id: llm, disabled: true}', []],
] as const)(
  'a start that fails with %s leaves its result document where one was asked for',
  async (code, file, text, flags) => {
    const place = new Place({ DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' })
    place.write(PATHS[file], text)
    const plain = await place.run([...flags, '-p', 'hi'])
    expect([plain.code, plain.stdout]).toEqual([1, ''])
    for (const format of ['json', 'stream-json']) {
      const run = await place.run([...flags, '--profile', 'headless', '--output-format', format, 'hi'])
      expect([run.code, run.stderr]).toEqual([1, plain.stderr])
      const message = plain.stderr.trimEnd().replace(/^dsh: /gm, '')
      expect(JSON.parse(run.stdout)).toMatchObject({
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        session_id: '',
        error: { code, message },
      })
      expect(run.stdout).toMatch(/^[^\n]*\n$/)
    }
  },
)

test('rows that wait for a row that does not run share one line', async () => {
  const place = new Place({ DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: 'http://127.0.0.1:9' })
  const text = '- insert: [{id: broken, name: ./broken.mjs, before: tools}]\n- {id: tools, config: {nope: 1}}'
  place.write('home/profiles/headless/broken.mjs', 'export async function apply() {}')
  place.write(PATHS['cordis.patch.yml'], text)
  const { stderr } = await place.run(['-p', 'hi'])
  const lines = stderr.trimEnd().split('\n')
  expect(lines[0]).toContain('row tools (')
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^dsh: \d+ rows are waiting for services of .*: .*agent-loop/)])
})

test('with all four files broken, the ways back still work', async () => {
  const place = new Place()
  place.write(PATHS['cordis.patch.yml'], 'foo: [unclosed')
  place.write(PATHS['package.json'], '{')
  place.write(PATHS['settings.yaml'], 'a: {x: 1')
  place.write(PATHS['.credentials.yaml'], 'version: 1\nrefs: {KEY: s3cret')
  const dump = await place.run(['--profile', 'headless', '--dump-default-config'])
  expect(dump.code).toBe(0)
  expect(dump.stdout).toContain('- id: headless-runner')
  const safe = await place.run(['--profile', 'headless', '--safe', 'hi'])
  expect(safe.stderr).toContain('MISSING_CREDENTIAL')
  const doctor = await place.run(['doctor'])
  expect(doctor.code).toBe(1)
  for (const name of ['.credentials.yaml', 'package.json', 'settings.yaml']) expect(doctor.stdout).toContain(name)
  expect(`${dump.stderr}${safe.stderr}${doctor.stdout}`).not.toContain('s3cret')
})

test('doctor gives each finding a state and each fault a remedy, as text and as JSON', async () => {
  const place = new Place()
  const { code, stdout } = await place.run(['doctor', '--json'])
  const { ok, findings } = JSON.parse(stdout)
  expect([ok, code]).toEqual([false, 1])
  const named = (check: string) => findings.find((finding: { check: string }) => finding.check === check)
  expect(named('credentials')).toEqual({
    check: 'credentials',
    status: 'fail',
    text: 'DEEPSEEK_API_KEY is not set',
    remedy: 'run "dsh login", or export DEEPSEEK_API_KEY',
  })
  for (const check of ['node', 'home', 'hard links', 'ripgrep', 'proxy', 'environment', 'profile headless']) {
    expect(named(check)?.status).toBe('ok')
  }
  expect(findings.every((finding: any) => finding.status !== 'fail' || finding.remedy !== undefined)).toBe(true)
})

test('login --remove of a key that is not stored says which are, and changes nothing', async () => {
  const place = new Place()
  const file = `${place.home}/.credentials.yaml`
  const nothing = await place.run(['login', 'OTHER_KEY', '--remove'])
  expect(nothing).toEqual({
    code: 1,
    stdout: '',
    stderr: `dsh: ${file} has no OTHER_KEY, so nothing was removed; stored keys: none\n`,
  })
  expect(existsSync(file)).toBe(false)
  await place.run(['login'], { stdin: 'sk-test\n' })
  const before = readFileSync(file, 'utf8')
  const other = await place.run(['login', 'OTHER_KEY', '--remove'])
  expect(other.code).toBe(1)
  expect(other.stderr).toContain('has no OTHER_KEY, so nothing was removed; stored keys: DEEPSEEK_API_KEY\n')
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('login stores a key from a pipe, privately, and the run that follows uses it', async () => {
  const place = new Place()
  expect(await place.run(['login'], { stdin: 'sk-test\n' })).toEqual({
    code: 0,
    stdout: '',
    stderr: `DEEPSEEK_API_KEY is stored in ${place.home}/.credentials.yaml\n`,
  })
  const { findings } = JSON.parse((await place.run(['doctor', '--json'])).stdout)
  const found = findings.find((finding: { check: string }) => finding.check === 'credentials')
  expect(found.text).toBe(`DEEPSEEK_API_KEY from ${place.home}/.credentials.yaml`)
  expect((await place.run(['login'], { stdin: '' })).code).toBe(2)
  expect((await place.run(['login', '--remove'])).code).toBe(0)
  const after = JSON.parse((await place.run(['doctor', '--json'])).stdout)
  expect(after.findings.find((finding: { check: string }) => finding.check === 'credentials').status).toBe('fail')
})
