import { existsSync, readFileSync } from 'node:fs'
import { has } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'
import { ask, dsh, logs, open, programOf } from './program.ts'

describe.skipIf(!has('tmux'))('starts and commands', { timeout: 60_000 }, () => {
  it('has a picker for sessions, and commands that complete', async () => {
    const session = await open([{ text: 'about birds' }, { text: 'about fish' }, { text: 'birds again' }])
    await ask(session.tmux, 'tell me of birds')
    await session.tmux.waitFor('about birds')
    await ask(session.tmux, '/new')
    await ask(session.tmux, 'tell me of fish')
    await session.tmux.waitFor('about fish')
    await session.tmux.type('/resu')
    await session.tmux.waitFor('go to another session')
    await session.tmux.keys('Escape')
    // An escape with a letter right behind it is Alt and that letter.
    await new Promise((resolve) => setTimeout(resolve, 500))
    await session.tmux.type('me')
    await session.tmux.keys('Enter')
    await session.tmux.waitFor('type to search')
    await session.tmux.type('zzz')
    await session.tmux.waitFor('nothing matches')
    await session.tmux.keys('C-u')
    await session.tmux.type('birds')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await session.tmux.keys('Enter')
    await session.tmux.waitFor('about birds')
    await ask(session.tmux, 'once more')
    await session.tmux.waitFor('birds again')
    expect(
      session.server.requests
        .filter((request) => !request.side)
        .at(-1)
        ?.body.messages.some((m: { content: string }) => m.content === 'tell me of birds'),
    ).toBe(true)
  })

  it('shows what doctor finds, of this terminal too', async () => {
    const { tmux } = await open([{ text: 'never' }])
    await ask(tmux, '/doctor')
    await tmux.waitFor(/ok +terminal +\S/, 20_000)
  })

  it('changes mode, and the status line says what holds', async () => {
    const { tmux } = await open([{ text: 'ok' }])
    await ask(tmux, '/permission read-only')
    await tmux.waitFor('read-only/ask')
    await ask(tmux, '/effort max')
    await tmux.waitFor('(max)')
    await ask(tmux, 'hello')
    await tmux.waitFor('ok')
  })

  it('starts in the mode, with the model and the effort that the command line asks for', async () => {
    const { tmux, server } = await open([{ text: 'fine' }], {
      args: '--permission-mode read-only -m deepseek-v4-pro --effort max',
    })
    await tmux.waitFor('deepseek-v4-pro (max) · read-only/ask')
    await ask(tmux, 'hello')
    await tmux.waitFor('fine')
    const body = server.requests.find((request) => !request.side)?.body
    expect([body.model, body.reasoning_effort]).toEqual(['deepseek-v4-pro', 'max'])
  })

  it.each([
    ['-r', 'Escape'],
    ['-r', 'C-c'],
    ['-r', 'C-d'],
    ['-r --plain', 'C-c'],
    ['-r --plain', 'C-d'],
    ['-r --plain', 'Enter'],
  ])('a start with %s ends without a session when the picker is left with %s', async (args, key) => {
    const session = await open([{ text: 'about birds' }])
    await ask(session.tmux, 'tell me of birds')
    await session.tmux.waitFor('about birds')
    // One in which nothing was said is not offered.
    await ask(session.tmux, '/new')
    await session.tmux.waitFor(/^(?![\s\S]*about birds)/)
    await session.tmux.keys('C-d')
    await session.tmux.waitFor('[ended 0]')
    const picker = await session.again(args, undefined, args === '-r' ? 'type to search' : 'or nothing to leave')
    const screen = await picker.screen()
    expect(screen.match(/ min ago/g)).toHaveLength(1)
    expect(screen).not.toContain('…/…')
    await picker.keys(key)
    expect(await picker.waitFor('[ended 0]')).not.toMatch(/─|dsh:/)
    expect(logs(session.workspace)).toHaveLength(1)
  })

  it.each([
    ['the first question', '', 'How do you want to go on?'],
    ['the picker of a start', '-r', 'type to search'],
  ])('puts the terminal back when it is told to stop before %s is answered', async (_what, args, question) => {
    const session = await open([{ text: 'about birds' }], { args: '"tell me of birds"' })
    await session.tmux.waitFor('about birds')
    await session.tmux.keys('C-d')
    await session.tmux.waitFor('[ended 0]')
    const asking = await session.again(args, undefined, question, { DEEPSEEK_API_KEY: '' })
    process.kill(await programOf(asking), 'SIGTERM')
    expect(await asking.waitFor('[ended 143]')).not.toMatch(/─|choose/)
  })

  it.skipIf(!has('bubblewrap'))(
    'says at the start what confines commands, in the words of the status line',
    async () => {
      const session = await open([{ text: 'never' }])
      const screen = await session.tmux.waitFor('· sandbox full · ')
      expect(screen).toMatch(/^· dsh \S+ · sandbox full \(\S+\) · key from the environment · \/help$/m)
      const plain = await session.again('--plain')
      expect((await plain.screen()).replaceAll('\n', '')).toMatch(
        /^dsh \S+ · deepseek-v4-flash · workspace-write\/ask · sandbox full \(\S+\) · key from the environment · \/help/,
      )
    },
  )

  it('leaves a question of line mode with Ctrl-C, and the session goes on', async () => {
    const { tmux } = await open([{ text: 'fine' }], { args: '--plain' })
    await ask(tmux, '/model')
    await tmux.waitFor('or nothing to leave')
    await tmux.keys('C-c')
    await tmux.waitFor(/leave\s+you>\s*$/)
    await ask(tmux, 'hello')
    await tmux.waitFor('dsh: fine')
  })

  it.each([
    ['-r nope', 'error: session "nope" not found'],
    ['--plain -r nope', 'error: session "nope" not found'],
    ['-c', 'error: there is no session to continue in '],
    ['--plain -c', 'error: there is no session to continue in '],
    ['-r', 'error: there is no session to resume yet'],
    ["-r ''", 'error: a session id cannot be empty'],
    ["--session-id ''", 'error: a session id cannot be empty'],
    ['-c --session-id mine', 'error: --session-id names a new session: it goes with --continue or --resume only'],
    ['-r --no-session', 'error: --no-session cannot go on with a stored session'],
    ['-C nowhere', 'error: --cd: nowhere is not a directory'],
    ['--plain -C nowhere', 'error: --cd: nowhere is not a directory'],
  ])('a start with %s that cannot be done says so before anything is drawn', async (args, line) => {
    const { tmux, workspace } = await open([{ text: 'never' }], { shell: true })
    await tmux.type(`clear; ${process.execPath} ${dsh} ${args}; echo "[code $?]"`)
    await tmux.keys('Enter')
    const screen = await tmux.waitFor('[code 2]')
    expect(screen).toContain(line)
    expect(screen).not.toMatch(/─|\/help/)
    expect(logs(workspace)).toHaveLength(0)
  })

  it('gives a copy the id that is asked for, unless there is one, and /new one of its own', async () => {
    const session = await open([{ text: 'one' }, { text: 'two' }], { args: '--session-id first' })
    await ask(session.tmux, 'hello')
    await session.tmux.waitFor('one')
    await ask(session.tmux, '/new')
    await session.tmux.waitFor(/^(?![\s\S]*one)/)
    await ask(session.tmux, 'hello')
    await session.tmux.waitFor('two')
    await session.tmux.keys('C-d')
    await session.tmux.waitFor('[ended 0]')
    const copy = await session.again('-r first --fork-session --session-id second')
    await copy.keys('C-d')
    expect(await copy.waitFor('[ended 0]')).toContain('dsh --resume second')
    const taken = await session.again('-c --fork-session --session-id first', undefined, '[ended 2]')
    expect(await taken.screen()).toContain('error: session "first" exists already; go on with it: --resume first')
    expect(logs(session.workspace)).toHaveLength(3)
  })

  it('asks again for a key that it refuses, without ever showing one', async () => {
    const { tmux, workspace } = await open([{ text: 'never' }], { env: { DEEPSEEK_API_KEY: '' } })
    await tmux.waitFor('How do you want to go on?')
    await tmux.keys('Enter')
    await tmux.waitFor('it is not shown')
    await tmux.keys('Enter')
    await tmux.waitFor('nothing was typed; paste or type it again')
    await tmux.paste('sk-one\nsk-two')
    await tmux.keys('Enter')
    await tmux.waitFor(/has blanks or line breaks in it; nothing was\s+stored; paste or type it again/)
    expect(existsSync(workspace.path('home', '.credentials.yaml'))).toBe(false)
    await tmux.paste('  sk-one ')
    expect(await tmux.screen()).not.toContain('sk-')
    await tmux.keys('Enter')
    expect(await tmux.waitFor('stored; the next request uses it')).not.toContain('sk-')
    expect(readFileSync(workspace.path('home', '.credentials.yaml'), 'utf8')).toContain('DEEPSEEK_API_KEY: sk-one\n')
    expect(existsSync(workspace.path('home/prompt-history.jsonl'))).toBe(false)
    await ask(tmux, '/login')
    await tmux.waitFor('Enter stores it')
    await tmux.keys('Escape')
    await ask(tmux, '/help')
    await tmux.waitFor('/login')
  })

  it('writes the session where /export says, and overwrites nothing', async () => {
    const { tmux, workspace } = await open([{ text: 'ok' }], { files: { 'there.md': 'mine' } })
    await ask(tmux, 'hello')
    await tmux.waitFor('ok')
    await ask(tmux, '/export notes.html')
    await tmux.waitFor(/written: .*notes\.html/)
    await ask(tmux, '/export md there.md')
    await tmux.waitFor('exists already; nothing was written')
    expect(readFileSync(workspace.path('w/notes.html'), 'utf8')).toContain('<html')
    expect(readFileSync(workspace.path('w/there.md'), 'utf8')).toBe('mine')
    await ask(tmux, '/export')
    await tmux.waitFor(/written: \S*session-[0-9a-f-]{36}\.md/)
    await ask(tmux, '/export')
    await tmux.waitFor(/written: \S*session-[0-9a-f-]{36}-2\.md/)
  })

  it('offers ways on when there is no key', async () => {
    const { tmux, workspace, server } = await open([{ text: 'now it works' }], { env: { DEEPSEEK_API_KEY: '' } })
    await tmux.waitFor('No API key is set')
    await tmux.keys('Enter')
    await tmux.waitFor('it is not shown')
    await tmux.type('sk-secret-123')
    expect(await tmux.screen()).not.toContain('sk-secret')
    await tmux.keys('Enter')
    await tmux.waitFor('stored')
    await ask(tmux, 'hello')
    await tmux.waitFor('now it works')
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-secret-123')
    expect(readFileSync(workspace.path('home/prompt-history.jsonl'), 'utf8')).not.toContain('sk-secret')
  })

  it('shows what the file tools changed, and takes the last turn back', async () => {
    const { tmux, workspace } = await open(
      [
        { calls: [{ name: 'read', args: { file_path: 'a.txt' } }] },
        { calls: [{ name: 'edit', args: { file_path: 'a.txt', old_string: 'old', new_string: 'new' } }] },
        { text: 'edited' },
      ],
      { files: { 'a.txt': 'old\n' }, size: { columns: 100, rows: 50 } },
    )
    await ask(tmux, 'edit it')
    await tmux.waitFor('edited')
    await ask(tmux, '/diff')
    await tmux.waitFor('+new')
    await ask(tmux, '/undo')
    await tmux.waitFor(/a\.txt/)
    await expect.poll(() => workspace.read('w/a.txt')).toBe('old\n')
  })
})
