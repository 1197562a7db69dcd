import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseArgv } from '../src/argv.ts'
import { bin, Place } from './dsh.ts'

describe('the launcher', () => {
  test('a reader that goes away ends the writing without a word', () => {
    const script = '"$0" "$1" --help 2>"$2" | head -0; echo ${PIPESTATUS[0]}; cat "$2"'
    const words = [process.execPath, bin, join(new Place().root, 'err')]
    const said = execFileSync('bash', ['-c', script, ...words], { encoding: 'utf8' })
    expect(said).toBe('0\n')
  })

  test
    .skipIf(!existsSync('/dev/full'))
    .each([
      '--version',
      '--help',
      'demo',
      'doctor',
      'profile list',
      'sessions --help',
      'sessions list --json',
      '--profile headless --dump-config',
    ])('%s: output that could not be written is no success, and is told once', (words) => {
    const { root, home } = new Place()
    const said = execFileSync('bash', ['-c', `"$0" "$1" ${words} 2>&1 >/dev/full; echo $?`, process.execPath, bin], {
      encoding: 'utf8',
      env: { ...process.env, HOME: root, DSH_HOME: home },
    })
    expect(said).toMatch(/^dsh: the output could not be written: no space left on device\b.*\n1\n$/)
  })

  test.skipIf(!existsSync('/usr/bin/bwrap'))('a home that takes no files does not keep a profile from running', () => {
    const { root, home } = new Place()
    mkdirSync(home)
    const words = ['--bind', '/', '/', '--dev', '/dev', '--ro-bind', home, home, process.execPath, bin]
    const said = execFileSync('/usr/bin/bwrap', [...words, '--profile', 'headless', '--help'], {
      encoding: 'utf8',
      cwd: root,
      env: { ...process.env, HOME: root, DSH_HOME: home },
    })
    expect(said).toContain('--output-format')
    expect(readdirSync(home)).toEqual([])
  })

  test('an empty HOME counts as none', async () => {
    const { code, stdout, stderr } = await new Place().run(['--profile', 'headless', '--dump-default-config'], {
      env: { HOME: '' },
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('session-persistence-jsonl')
  })

  test.each([
    [
      ['-p', '--', '-x is broken'],
      ['--', '-x is broken'],
    ],
    [
      ['-p', '--', '--', '-x'],
      ['--', '-x'],
    ],
    [
      ['--profile', 'headless', '--', '--', '-x'],
      ['--', '-x'],
    ],
    [['--profile', 'headless', '--', '--x'], ['--x']],
  ])('%j gives the app %j: with -p one separator ends all options', (argv, args) => {
    expect(parseArgv(argv, [])).toMatchObject({ args })
  })

  test.each([
    [[], 'error: --profile <name> is required'],
    [['a task'], 'error: --profile <name> is required (no terminal here: dsh -p "task")'],
    [['session'], 'error: unknown command "session" — did you mean "sessions"? (as a task: dsh -p session)'],
    [['docter'], 'error: unknown command "docter" — did you mean "doctor"? (as a task: dsh -p docter)'],
    [['--profil', 'headless', 'hi'], "error: unknown option '--profil' — did you mean '--profile'?"],
    [['plugin', '--profile', 't', 'ad', 'foo'], 'error: unknown plugin command "ad" — did you mean "add"?'],
    [['logn', 'x'], 'error: --profile <name> is required — did you mean "dsh login"?'],
    [['--profile'], "error: option '--profile <name>' argument missing"],
    [['--profile', ''], 'error: --profile needs a name'],
    [['--profile='], 'error: --profile needs a name'],
    [['--profile', 'headless', '--patch'], "error: option '--patch <path>' argument missing"],
    [['--profile', 'headless', '--patch='], 'error: --patch needs a path'],
    [
      ['--profile', 'headless', '--dump-config', '--dump-default-config'],
      'error: --dump-config and --dump-default-config are mutually exclusive',
    ],
    [['--profile', 'headless', '--dump-config', 'a', 'b'], 'error: config dumps take no app arguments, got "a" "b"'],
    [
      ['--profile', 'headless', '--patch', 'x', '--dump-default-config'],
      'error: --dump-default-config prints the bundle layers and takes no --patch',
    ],
    [['--strict', 'doctor'], "error: doctor takes none of the launcher's flags before it"],
    [['plugin', 'add', 'x'], "error: required option '--profile <name>' not specified"],
    [['plugin', '--profile', 't'], 'error: plugin needs package manager arguments to forward (e.g. add <package>)'],
    [['plugin', '--profile', 't', 'add'], 'error: plugin add needs a package'],
    [['doctor', 'x'], 'error: unexpected word "x" (see dsh doctor --help)'],
    [['login', 'a', 'b'], 'error: unexpected word "b" (see dsh login --help)'],
    [['config'], 'error: config knows one command: dsh config explain <row>'],
    [['config', 'explain'], 'error: config explain needs the id of a row'],
    [['completion', 'tcsh'], 'error: completion knows bash, zsh and fish'],
    [['profile', 'make'], 'error: profile knows list, new, path, rm; got "make" (see dsh profile --help)'],
    [['profile', 'nw'], '; got "nw" — did you mean "new"? (see dsh profile --help)'],
    [['sessions', 'lst'], '; got "lst" — did you mean "list"?'],
    [
      ['login', 'sk-12-34'],
      'error: login takes the name of a key, spelled like a variable; the key itself is asked for',
    ],
    [['doctor', '--nope'], "error: unknown option '--nope' (see dsh doctor --help)"],
    [['profile', 'list', '--nope'], "error: unknown option '--nope' (see dsh profile --help)"],
  ])('%j is a usage error in one line', async (args, line) => {
    const place = new Place()
    const { code, stdout, stderr } = await place.run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')[0]).toContain(line)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(existsSync(place.home)).toBe(false)
  })

  test.each([
    [['docter'], 'docter'],
    [['--', 'docter'], undefined],
    [['docter '], undefined],
    [['docter', 'x'], undefined],
    [['-p', 'docter'], undefined],
    [['docter', '-p'], undefined],
    [['--profile', 'p', 'docter'], undefined],
  ])('of %j the word that may be a mistyped command is %j', (argv, loneWord) => {
    const request = parseArgv(argv, ['doctor'])
    expect(request.kind === 'launch' && request.loneWord).toBe(loneWord)
  })

  test.each([
    ['nofile.yml', 'there is no file nofile.yml (--patch)'],
    ['.', '. is a directory, not a patch file'],
  ])('--patch %s is refused in plain words', async (file, line) => {
    const { code, stderr } = await new Place().run(['--profile', 'headless', '--patch', file, 'x'])
    expect([code, stderr]).toEqual([1, `dsh: ${line}\n`])
  })

  test.each([
    ['a file', '/etc/passwd', 'not a directory'],
    ['no place for one', '/proc/nope', 'ENOENT: no such file or directory'],
  ])('a home that is %s is named by its variable', async (_, home, reason) => {
    for (const words of [
      ['--profile', 'headless', 'x'],
      ['profile', 'new', 'x'],
    ]) {
      const { code, stderr } = await new Place({ DSH_HOME: home }).run(words)
      expect([code, stderr]).toEqual([1, `dsh: DSH_HOME=${home} cannot be used: ${reason}\n`])
    }
  })

  test.each([
    ['sessions', 'list'],
    ['sessions', 'show', 'x'],
    ['sessions', 'prune', '--older-than', '1d'],
    ['login', '--remove'],
    ['plugin', '--profile', 'headless', 'list'],
    ['profile', 'list'],
    ['config', 'explain', 'tools'],
  ])('a command that needs the home names it where it is none: %s %s', async (...words) => {
    const { code, stderr } = await new Place({ DSH_HOME: '/etc/passwd' }).run(words)
    expect([code, stderr]).toEqual([1, 'dsh: DSH_HOME=/etc/passwd cannot be used: not a directory\n'])
  })

  test.each([
    [['-p', '--profil', 'mine', 'x'], '--profil', '--profile'],
    [['--profile', 'headless', '--patc=x.yml', 'x'], '--patc=x.yml', '--patch'],
  ])('%j: a launcher option that is a letter off is told what was meant', async (words, given, meant) => {
    const { code, stderr } = await new Place().run(words)
    expect([code, stderr]).toEqual([2, `error: unknown option '${given}' — did you mean '${meant}'?\n`])
  })

  test('a row that is nearly one of those that come with dsh is told which', async () => {
    const place = new Place()
    place.write('work/p.yml', '- insert: [{id: x, name: "@dsh/tool-fss"}]\n')
    const { code, stderr } = await place.run(['--profile', 'headless', '--patch', 'p.yml', 'x'])
    expect(code).toBe(1)
    expect(stderr).toContain('): cannot find package "@dsh/tool-fss" — did you mean "@dsh/tool-fs"?\n')
  })

  test('a profile whose manifest is broken is told with the way around it', async () => {
    const place = new Place()
    const manifest = place.write('home/profiles/headless/package.json', '{')
    const { code, stderr } = await place.run(['--profile', 'headless', 'x'])
    expect(code).toBe(1)
    expect(stderr).toContain(`dsh: profile manifest ${manifest}: invalid JSON: `)
    expect(stderr).toMatch(/[^\n]; to run without it: dsh --safe --profile headless\n$/)
    place.write('home/profiles/mine/package.json', '{')
    expect((await place.run(['--profile', 'mine', 'x'])).stderr).not.toContain('--safe')
  })

  test('help and version read neither the environment files nor the home', async () => {
    const place = new Place()
    place.write('work/.env', 'PATH=/nowhere\n')
    const version = await place.run(['--version'])
    expect(version).toMatchObject({ code: 0, stderr: '' })
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/)
    const help = await place.run(['-h'])
    expect(help.code).toBe(0)
    for (const word of ['dsh --profile headless', 'dsh plugin --profile', '--dump-config']) {
      expect(help.stdout).toContain(word)
    }
    expect((await place.run(['--profile', 'x', '-V'])).stdout).toBe(version.stdout)
    expect(existsSync(place.home)).toBe(false)
  })

  test.each([
    [
      'nope',
      `profile "nope" does not exist; create it with 'dsh plugin --profile nope add <package>' or 'dsh profile new nope'`,
    ],
    [
      'headles',
      `profile "headles" does not exist — did you mean "headless"? Or create it with 'dsh plugin --profile headles add <package>' or 'dsh profile new headles'`,
    ],
    ['a/b', 'invalid profile name "a/b"'],
    ['..', 'invalid profile name ".."'],
    ['node_modules', 'invalid profile name "node_modules"'],
  ])('a profile called %s is refused', async (name, line) => {
    const { code, stdout, stderr } = await new Place().run(['--profile', name, 'x'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`dsh: ${line}`)
  })

  test('the words of the app are passed on as they are, behind one separator', async () => {
    const place = new Place()
    const row = place.write(
      'work/args.mjs',
      'export async function apply(ctx) { process.stdout.write(JSON.stringify(ctx.cmdlineArgs.get())); ctx.appExit(0) }',
    )
    place.profile('p', `- insert: [{id: args, name: ${row}}]`)
    const args = async (...words: string[]) => JSON.parse((await place.run(['--profile', 'p', ...words])).stdout)
    expect(await args('--unclaimed', 'x', '--patch')).toEqual(['--unclaimed', 'x', '--patch'])
    expect(await args('--', '--x')).toEqual(['--x'])
    expect(await args('--', '--', '--x')).toEqual(['--', '--x'])
    expect(await args('doctor')).toEqual(['doctor'])
    expect(await args('--help')).toEqual(['--help'])
  })

  test.each(['--patch', '--patch=a.yml', '--safe', '--strict', '--profile'])(
    '%s behind the words of a surface is told where it stands',
    async (word) => {
      const place = new Place()
      const line = `${word.replace(/=.*/, '')} is the launcher's: it stands before the profile's own options and the task (see dsh --help)`
      for (const words of [
        ['-p', '--max-turns', '3', word, 'hi'],
        ['-p', 'hi', word],
      ]) {
        const { code, stdout, stderr } = await place.run(words)
        expect([code, stdout, stderr]).toEqual([2, '', `error: ${line}\n`])
      }
      const json = await place.run(['-p', '--output-format', 'json', word, 'hi'])
      expect(json.code).toBe(2)
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'USAGE', message: line } })
    },
  )

  test('an option that is nearly one of the surface is told in one line', async () => {
    const { code, stderr } = await new Place().run(['-p', '--modle', 'x', 'hi'])
    expect([code, stderr]).toEqual([2, "error: unknown option '--modle' — did you mean '--model'?\n"])
  })

  test('completion scripts know the commands and the profiles', async () => {
    const place = new Place()
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await place.run(['completion', shell])
      expect(code).toBe(0)
      for (const word of ['doctor', 'explain', 'profile list']) expect(stdout).toContain(word)
    }
  })
})

describe('dumps', () => {
  test('a dump of a new home prints the template and writes nothing', async () => {
    const place = new Place()
    const { code, stdout, stderr } = await place.run(['--profile', 'headless', '--dump-default-config'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^# == @dsh\/bundle-base\n- id: /)
    expect(stdout).toContain('# == @dsh/bundle-base, patched by @dsh/bundle-headless\n')
    expect(stdout).toContain('!!js process.env.DSH_PERMISSION_MODE')
    expect(existsSync(place.home)).toBe(false)
  })

  test('a dump names who set what, tells what it skipped, and has a JSON form', async () => {
    const place = new Place()
    const profile = place.write(
      'home/profiles/headless/cordis.patch.yml',
      '- {id: tools, merge: {}, x-by: profile}\n- {id: absent-row, disabled: true}\n',
    )
    place.write('home/profiles/headless/package.json', '{"dsh": {"profile": {"bundles": ["@deepseek-ai/dsh-base"]}}}')
    const patch = place.write('work/o.yml', '- {id: tools, x-by: overlay}\n')
    const dump = await place.run(['--profile', 'headless', '--patch', 'o.yml', '--dump-config'])
    expect(dump.code).toBe(0)
    expect(dump.stdout).toContain(`# == @dsh/bundle-base, patched by ${profile}, ${patch}\n- id: tools\n`)
    expect(dump.stdout).toContain('x-by: overlay')
    expect(dump.stderr).toBe(`dsh: [${profile}] patch: entry "absent-row" not found (line 2)\n`)
    const json = await place.run(['--profile', 'headless', '--patch', 'o.yml', '--dump-config', '--json'])
    const tools = JSON.parse(json.stdout).find((row: { id: string }) => row.id === 'tools')
    expect(tools).toMatchObject({
      name: '@dsh/tools',
      'x-origin': '@dsh/bundle-base',
      'x-patched-by': [profile, patch],
    })
    const strict = await place.run(['--profile', 'headless', '--strict', '--dump-config'])
    expect(strict.code).toBe(1)
  })

  test('settings and launcher-made patches show as layers of their own', async () => {
    const place = new Place()
    const settings = place.write('home/settings.yaml', 'agent-default-model: {model: mine}\n')
    const dump = await place.run(['--profile', 'headless', '--dump-config'])
    expect(dump.stdout).toContain(`patched by ${settings}\n- id: agent-default-model\n`)
    expect(dump.stdout).toContain('model: mine')
    const safe = await place.run(['--profile', 'headless', '--safe', '--dump-config'])
    expect(safe.stdout).toContain('patched by (launcher)\n- id: credentials\n')
    expect(safe.stdout).not.toContain('model: mine')
  })

  test('explain tells each layer’s say, the last word, and what comes of it', async () => {
    const place = new Place()
    const home = place.write('home/cordis.patch.yml', '- {id: tool-todo, merge: {allowParallelInProgress: false}}\n')
    const { stdout } = await place.run(['config', 'explain', 'tool-todo', '--profile', 'headless'])
    expect(stdout).toContain('tool-todo (@dsh/tool-todo)')
    expect(stdout).toMatch(/@dsh\/bundle-base \(\S+cordis\.patch\.yml:\d+\): inserts @dsh\/tool-todo/)
    expect(stdout).toContain(`${home}:1: sets  <- last word`)
    expect(stdout).toContain(`config:  # ${home}`)
    const unknown = await place.run(['config', 'explain', 'tool-tod'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain('no row "tool-tod" in profile "terminal" — did you mean "tool-todo"?')
  })
})
