import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Place, rows } from './dsh.ts'

describe('profiles', () => {
  test('the first run makes the profile from its template and never touches it again', async () => {
    const place = new Place()
    const patch = place.write(
      'work/p.yml',
      `- insert: [{id: exit, name: ${rows}/exit.mjs, config: {code: 7}}]\n- {id: headless-runner, disabled: true}`,
    )
    expect((await place.run(['--profile', 'headless', '--patch', patch, 'x'])).code).toBe(7)
    const dir = join(place.home, 'profiles/headless')
    expect(readdirSync(dir).sort()).toEqual(['cordis.patch.yml', 'package.json', 'pnpm-workspace.yaml'])
    place.write('home/profiles/headless/cordis.patch.yml', '# mine\n')
    expect((await place.run(['--profile', 'headless', '--patch', patch, 'x'])).code).toBe(7)
    expect(readFileSync(join(dir, 'cordis.patch.yml'), 'utf8')).toBe('# mine\n')
  })

  test('profiles are listed, made, found and removed', async () => {
    const place = new Place()
    expect((await place.run(['profile', 'list'])).stdout).toContain(
      'headless\t@dsh/bundle-base @dsh/bundle-headless\ttemplate',
    )
    const made = await place.run([
      'profile',
      'new',
      'mine',
      '--bundle',
      '@dsh/bundle-base',
      '--bundle',
      '@dsh/bundle-headless',
    ])
    expect(made).toMatchObject({ code: 0, stdout: `${place.home}/profiles/mine\n` })
    expect((await place.run(['profile', 'path', 'mine'])).stdout).toBe(made.stdout)
    expect((await place.run(['--profile', 'mine', '--dump-config'])).stdout).toContain('- id: headless-runner')
    expect((await place.run(['profile', 'new', 'mine'])).stderr).toContain('exists already')
    place.write('home/profiles/mine/cordis.patch.yml', '- {id: tools, merge: {}}\n')
    expect((await place.run(['profile', 'rm', 'mine'])).code).toBe(1)
    expect((await place.run(['profile', 'rm', 'mine', '--yes'])).code).toBe(0)
    expect(existsSync(join(place.home, 'profiles/mine'))).toBe(false)
  })

  test('names with blanks are refused, a slip in rm is told, and only plugin add makes a profile', async () => {
    const place = new Place()
    const blank = await place.run(['profile', 'new', 'bad name'])
    expect([blank.code, blank.stderr]).toEqual([1, 'dsh: invalid profile name "bad name": it has blanks in it\n'])
    await place.run(['profile', 'new', 'terminal'])
    const slip = await place.run(['profile', 'rm', 'terminl'])
    expect(slip.stderr).toBe('dsh: profile "terminl" is not in the home — did you mean "terminal"?\n')
    const listed = await place.run(['plugin', '--profile', 'nope', 'list'])
    expect(listed.code).toBe(1)
    expect(listed.stderr).toContain(
      'there is no profile "nope", and only add or install makes one; profiles: headless, minimal, terminal',
    )
    expect(readdirSync(join(place.home, 'profiles'))).toEqual(['terminal'])
  })

  test('a task for a profile that has nothing to take it fails with the next step', async () => {
    const place = new Place()
    await place.run(['profile', 'new', 'review'])
    const { code, stdout, stderr } = await place.run(['--profile', 'review', 'hi'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('dsh: no row of profile "review" keeps running; see --dump-config\n')
    expect(stderr).toContain('dsh profile new <name> --bundle @dsh/bundle-base --bundle @dsh/bundle-headless')
  })

  test('a surface that is composed away has failed, in the format that was asked for', async () => {
    const place = new Place()
    const patch = place.write('off.yml', '- id: headless-runner\n  disabled: true\n')
    const line = 'no row of profile "headless" keeps running (disabled: headless-runner); see --dump-config'
    const text = await place.run(['--patch', patch, '-p', 'hi'])
    expect([text.code, text.stdout, text.stderr]).toEqual([1, '', `dsh: ${line}\n`])
    const json = await place.run(['--patch', patch, '-p', '--output-format', 'json', 'hi'])
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ is_error: true, error: { code: 'NOTHING_RAN', message: line } })
  })

  test('a profile of a bundle that does not come with dsh is refused, and nothing is made', async () => {
    const place = new Place()
    const near = await place.run(['profile', 'new', 'x', '--bundle', '@dsh/bundle-bse'])
    expect([near.code, near.stdout]).toEqual([1, ''])
    expect(near.stderr).toContain('dsh: no bundle "@dsh/bundle-bse" comes with dsh — did you mean "@dsh/bundle-base"?')
    const none = await place.run(['profile', 'new', 'x', '--bundle', '@dsh/bundle-base', '--bundle', 'nope'])
    expect([none.code, none.stdout]).toEqual([1, ''])
    expect(none.stderr).toContain('no bundle "nope" comes with dsh (@dsh/bundle-base, @dsh/bundle-headless, ')
    expect(none.stderr).toContain('dsh plugin --profile x add <package>')
    expect(existsSync(join(place.home, 'profiles/x'))).toBe(false)
  })

  test('a bundle whose exports hide its manifest resolves, from the profile', async () => {
    const place = new Place()
    place.profile('p', `- insert: [{id: show, name: ${rows}/show.mjs}]`)
    place.write(
      'home/profiles/p/node_modules/tb/package.json',
      JSON.stringify({ name: 'tb', exports: './none.js', dsh: { bundle: { patch: './patch.yml' } } }),
    )
    expect((await place.run(['--profile', 'p', '--dump-config'])).stdout).toContain('# == tb\n- id: show')
  })

  test('a profile that composes nothing says so', async () => {
    const place = new Place()
    place.write('home/profiles/empty/package.json', '{}')
    expect(await place.run(['--profile', 'empty', 'x'])).toMatchObject({
      code: 1,
      stderr: `dsh: profile "empty" composes no rows; its bundles are listed in ${place.home}/profiles/empty/package.json\n`,
    })
  })
})
