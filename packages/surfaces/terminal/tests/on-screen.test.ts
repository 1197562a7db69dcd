import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { normalise, parseTranscript, projectTranscript } from '@dsh/replay'
import { atTestEnd, has, tempWorkspace, type Workspace } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'
import { ask, dsh, open, programOf } from './program.ts'

describe.skipIf(!has('tmux'))('the terminal, as a person sees it', { timeout: 60_000 }, () => {
  it('takes a first prompt from the command line and shows the answer as it is written', async () => {
    const { tmux } = await open([{ text: 'Hello **there**, `friend`.', chunkSize: 3, delayMs: 5 }], {
      args: '"say hello"',
    })
    const screen = await tmux.waitFor('Hello there, friend.')
    expect(screen).toContain('❯ say hello')
    expect(screen).toContain('deepseek-v4-flash')
    expect(screen).toContain('workspace-write/ask')
  })

  it('puts the cursor behind what was typed, wide characters too', async () => {
    const { tmux } = await open([{ text: 'ok' }])
    await tmux.type('日本 ok')
    const screen = await tmux.waitFor('日本 ok')
    const cursor = await tmux.cursor()
    expect(screen.split('\n')[cursor.row]).toMatch(/^日本 ok/)
    expect(cursor.column).toBe(7)
  })

  it('draws a tool call as a card with a numbered diff, and the command with its tail', async () => {
    const { tmux, workspace } = await open(
      [
        { calls: [{ name: 'read', args: { file_path: 'a.txt' } }] },
        { calls: [{ name: 'edit', args: { file_path: 'a.txt', old_string: 'two', new_string: 'zwei' } }] },
        { calls: [{ name: 'bash', args: { command: 'seq 1 40; exit 3', description: 'count' } }] },
        { text: 'All done.' },
      ],
      { files: { 'a.txt': 'one\ntwo\nthree\n' }, size: { columns: 90, rows: 50 } },
    )
    await ask(tmux, 'translate')
    const screen = await tmux.waitFor('All done.')
    expect(screen).toMatch(/✓ read a\.txt\n {2}lines 1–3 of 3/)
    expect(screen).toMatch(/2 - two\n\s+2 \+ zwei/)
    expect(screen).toMatch(/✗ bash seq 1 40; exit 3/)
    expect(screen).toContain('lines above')
    expect(screen).toContain('[exit code: 3]')
    expect(await workspace.read('w/a.txt')).toBe('one\nzwei\nthree\n')
  })

  it('shows the exact command of an escalation, and Enter alone decides nothing', async () => {
    const call = {
      calls: [
        {
          name: 'bash',
          args: {
            command: 'touch "$HOME/made"',
            description: 'd',
            sandbox_permissions: 'danger-full-access',
            justification: 'it belongs outside',
          },
        },
      ],
    }
    const { tmux, workspace, server } = await open([call, call, { text: 'finished' }])
    await ask(tmux, 'go')
    let screen = await tmux.waitFor('y allow once')
    expect(screen).toContain('touch "$HOME/made"')
    expect(screen).toContain('danger-full-access')
    expect(screen).toContain('it belongs outside')
    await tmux.keys('Enter')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await tmux.screen()).toContain('y allow once')
    await tmux.type('r')
    await tmux.type('use the workspace instead')
    await tmux.keys('Enter')
    await tmux.waitFor('the user rejected escalating this command')
    expect(await workspace.exists('made')).toBe(false)
    await tmux.waitFor('y allow once')
    await tmux.type('y')
    screen = await tmux.waitFor('finished')
    expect(await workspace.exists('made')).toBe(true)
    const told = server.requests.filter((request) => !request.side)[1]?.body.messages.at(-1).content
    expect(told).toBe(
      'Error: the user rejected escalating this command to "danger-full-access"\nuse the workspace instead',
    )
  })

  it('cancels a running command with Escape, and the session goes on', async () => {
    const { tmux } = await open([
      { calls: [{ name: 'bash', args: { command: 'echo begun; sleep 60', description: 'd' } }] },
      { text: 'here again' },
    ])
    await ask(tmux, 'wait')
    await tmux.waitFor('esc cancels')
    await tmux.waitFor(/bash \d/)
    await tmux.keys('Escape')
    await tmux.waitFor('interrupted')
    await ask(tmux, 'and now')
    await tmux.waitFor('here again')
  })

  it('queues what is sent while a turn runs, and gives it back when the turn is cancelled', async () => {
    const { tmux } = await open([
      { text: 'slowly '.repeat(60), chunkSize: 7, delayMs: 50 },
      { text: 'the second answer' },
    ])
    await ask(tmux, 'first')
    await tmux.waitFor('slowly slowly')
    await ask(tmux, 'second thing')
    await tmux.waitFor('queued: second thing')
    await tmux.type('a word on the way')
    await tmux.keys('M-Enter')
    await tmux.waitFor('with the next step: a word on the way')
    await tmux.keys('Escape')
    await tmux.waitFor('interrupted')
    const screen = await tmux.waitFor(/second thing\n(?:a word on the way\n)?─/)
    expect(screen).toContain('a word on the way')
    expect(screen).not.toContain('queued:')
    await tmux.keys('Enter')
    await tmux.waitFor('the second answer')
  })

  it('keeps what Ctrl-C takes out of the editor one arrow away, queued prompts too', async () => {
    const { tmux } = await open([{ text: 'slowly '.repeat(80), chunkSize: 7, delayMs: 50 }])
    await ask(tmux, 'first')
    await tmux.waitFor('slowly slowly')
    await ask(tmux, 'a thought worth keeping')
    await tmux.waitFor('queued: a thought worth keeping')
    await tmux.keys('C-c')
    await tmux.waitFor(/interrupted\n[\s\S]*\na thought worth keeping\n─/)
    await tmux.keys('C-c')
    await tmux.waitFor(/─\n\n─/)
    await tmux.keys('Up')
    await tmux.waitFor(/─\na thought worth keeping\n─/)
  })

  it('asks twice before Ctrl-D ends a running turn', async () => {
    const { tmux } = await open([{ text: 'slowly '.repeat(80), chunkSize: 7, delayMs: 50 }])
    await ask(tmux, 'first')
    await tmux.waitFor('slowly slowly')
    await tmux.keys('C-d')
    await tmux.waitFor('a turn is running: Ctrl+D again ends it and leaves')
    await tmux.keys('C-d')
    await tmux.waitFor('[ended 0]')
  })

  it('goes on after kill -9 where the log ends', async () => {
    const session = await open([
      { text: 'first answer' },
      { calls: [{ name: 'bash', args: { command: 'sleep 60', description: 'd' } }] },
      { text: 'back again' },
    ])
    await ask(session.tmux, 'remember the heron')
    await session.tmux.waitFor('first answer')
    await ask(session.tmux, 'work')
    await session.tmux.waitFor(/bash \d/)
    process.kill(await programOf(session.tmux), 'SIGKILL')
    await session.tmux.waitFor('[ended 137]')
    const next = await session.again('--continue')
    const screen = await next.waitFor('first answer')
    expect(screen).toContain('remember the heron')
    await ask(next, 'go on')
    await next.waitFor('back again')
  })

  it('survives resizing while an answer streams', async () => {
    const { tmux } = await open([{ text: `${'word '.repeat(120)}END`, chunkSize: 5, delayMs: 15 }], {
      size: { columns: 100, rows: 30 },
    })
    await ask(tmux, 'talk')
    await tmux.waitFor('word word')
    for (const [columns, rows] of [
      [60, 20],
      [40, 12],
      [120, 40],
      [80, 24],
    ] as const) {
      await tmux.resize(columns, rows)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    const screen = await tmux.waitFor('END')
    for (const line of screen.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('keeps ten thousand lines of output, odd scripts and a pasted block of five thousand lines readable', async () => {
    const { tmux, server } = await open([
      {
        calls: [
          {
            name: 'bash',
            args: {
              command: "seq 1 10000; printf '日本語 😀 שלום e\\u0301\\n'; printf '\\033[2J\\033[H\\007'",
              description: 'd',
            },
          },
        ],
      },
      { text: 'survived 日本語 😀 שלום' },
      { text: 'read it' },
    ])
    await ask(tmux, 'shout')
    let screen = await tmux.waitFor('survived 日本語')
    expect(screen).toContain('lines above')
    expect(screen).toContain('10000')
    const block = Array.from({ length: 5000 }, (_, i) => `pasted ${i + 1}`).join('\n')
    await tmux.paste(block)
    await tmux.waitFor(/paste/)
    await tmux.keys('Enter')
    screen = await tmux.waitFor('read it', 30_000)
    const sent = server.requests
      .filter((request) => !request.side)
      .at(-1)
      ?.body.messages.at(-1).content
    expect(sent).toBe(block)
  })

  it('leaves the terminal as it was: Ctrl-C twice, SIGTERM, and the way back is printed', async () => {
    const { tmux } = await open([{ text: 'ok' }], { shell: true })
    await tmux.type(`${process.execPath} ${dsh}`)
    await tmux.keys('Enter')
    await tmux.waitFor('/help')
    await ask(tmux, 'hello')
    await tmux.waitFor('ok')
    await tmux.keys('C-c')
    await tmux.waitFor('press Ctrl+C again')
    await tmux.keys('C-c')
    const screen = await tmux.waitFor('dsh --resume session-')
    expect(screen).toMatch(/dsh --resume session-[0-9a-f-]+/)
    await ask(tmux, 'stty -a | grep -o " -\\?icanon\\| -\\?echo "')
    await tmux.waitFor(/icanon\n.*echo/)
    expect(await tmux.screen()).not.toMatch(/-icanon|-echo /)
  })

  it('leaves only the conversation on the screen', async () => {
    const { tmux } = await open([{ text: 'ok' }], { shell: true })
    await tmux.type(`${process.execPath} ${dsh}`)
    await tmux.keys('Enter')
    await tmux.waitFor('/help')
    expect(await tmux.waitFor('─────')).toContain('workspace-write/ask')
    await ask(tmux, 'hello')
    await tmux.waitFor('ok')
    await tmux.keys('C-d')
    const screen = await tmux.waitFor('dsh --resume session-')
    expect(screen).toMatch(/ok\n\nTo go on with this session: /)
    expect(screen).not.toContain('─────')
  })

  it('puts the terminal back before the line about a row that crashed', async () => {
    const { tmux } = await open([], {
      args: '--patch p.yml',
      files: {
        'p.yml': '- insert: [{id: late, name: ./late.mjs}]',
        'late.mjs': "export async function apply() { setTimeout(() => { throw new Error('late fault') }, 2500) }",
      },
    })
    const screen = await tmux.waitFor('[ended 1]')
    const lines = screen.split('\n')
    const at = lines.findIndex((line) => line.includes('late fault'))
    expect(lines[at]).toMatch(/^dsh: (row late .*: )?late fault$/)
    // Nothing of the editor's frame and the status bar is left above it.
    expect(lines.slice(0, at).join('\n')).not.toMatch(/─|workspace-write\/ask · \S*\//)
    expect(lines[at + 1]).toBe('[ended 1]')
  })

  it('is suspended with Ctrl-Z and comes back with fg', async () => {
    const { tmux } = await open([{ text: 'after the break' }], { shell: true })
    await tmux.type(`${process.execPath} ${dsh}`)
    await tmux.keys('Enter')
    await tmux.waitFor('/help')
    await tmux.keys('C-z')
    await tmux.waitFor('Stopped')
    await ask(tmux, 'echo shell is here')
    await tmux.waitFor(/^shell is here$/m)
    await ask(tmux, 'fg')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await ask(tmux, 'hello')
    await tmux.waitFor('after the break')
  })

  it('goes on after Ctrl-Z where no shell could bring it back', async () => {
    const { tmux } = await open([{ text: 'still here' }])
    await tmux.keys('C-z')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await ask(tmux, 'hello')
    await tmux.waitFor('still here')
  })

  it('has a line mode for dumb terminals and screen readers', async () => {
    const { tmux, workspace } = await open(
      [
        {
          calls: [
            {
              name: 'bash',
              args: {
                command: 'touch "$HOME/x"',
                description: 'd',
                sandbox_permissions: 'danger-full-access',
                justification: 'why not',
              },
            },
          ],
        },
        { text: 'plain words' },
      ],
      { args: '--plain' },
    )
    await ask(tmux, 'go')
    await tmux.waitFor('type yes to allow it once')
    await ask(tmux, 'no, stay inside')
    const screen = await tmux.waitFor('dsh: plain words')
    expect(screen).toContain('stay inside')
    expect(await workspace.exists('x')).toBe(false)
  })

  it('tells in line mode what runs for long, and what a cancelled turn took with it', async () => {
    const { tmux } = await open([{ calls: [{ name: 'bash', args: { command: 'sleep 60', description: 'd' } }] }], {
      args: '--plain',
    })
    await ask(tmux, 'go')
    await tmux.waitFor('running: ● bash sleep 60 (Ctrl+C cancels)')
    await ask(tmux, 'and then tidy up')
    await tmux.keys('C-c')
    await tmux.waitFor('note: cancelled with the turn and not sent: and then tidy up')
    await tmux.waitFor('note: interrupted')
  })

  it('completes files behind an at sign, and shows background jobs while they run', async () => {
    const { tmux, server } = await open(
      [
        { calls: [{ name: 'bash', args: { command: 'sleep 30', description: 'd', run_in_background: true } }] },
        { text: 'it runs' },
      ],
      { files: { 'src/parser.ts': '', 'src/printer.ts': '', 'README.md': '' } },
    )
    await tmux.type('look at @pars')
    await tmux.waitFor('src/parser.ts')
    await tmux.keys('Tab')
    await tmux.waitFor('look at @src/parser.ts')
    await tmux.keys('Enter')
    await tmux.waitFor('it runs')
    await tmux.waitFor(/bash-1 running for .*: sleep 30/)
    expect(
      server.requests
        .filter((request) => !request.side)[0]
        ?.body.messages.some((m: { content: string }) => m.content.includes('look at @src/parser.ts')),
    ).toBe(true)
  })

  it('writes the same log as the headless surface', async () => {
    const steps: MockStep[] = [
      { reasoning: 'think', calls: [{ name: 'bash', args: { command: 'echo one', description: 'd' } }] },
      { calls: [{ name: 'write', args: { file_path: 'b.txt', content: 'x' } }] },
      { text: 'same' },
    ]
    // With a policy that never asks both tell the model the same about approvals; else only one of them has a person to ask.
    const mode = { DSH_PERMISSION_MODE: 'danger-full-access' }
    const session = await open(steps, { env: mode })
    await ask(session.tmux, 'do it')
    await session.tmux.waitFor('same')
    await session.tmux.keys('C-d')
    await session.tmux.waitFor('[ended 0]')
    const other = await tempWorkspace({ 'w/.keep': '' })
    const server = await startMockServer({ steps })
    atTestEnd(() => server.close())
    await promisify(execFile)(process.execPath, [dsh, '--profile', 'headless', 'do it'], {
      cwd: other.path('w'),
      env: {
        ...process.env,
        ...mode,
        DSH_HOME: other.path('home'),
        HOME: other.root,
        DEEPSEEK_BASE_URL: server.url,
        DEEPSEEK_API_KEY: 'test-key',
      },
    })
    expect(normalisedLog(session.workspace)).toEqual(normalisedLog(other))
  })
})

/** The events of the only log in this home, without what two runs cannot share. */
function normalisedLog(workspace: Workspace): string[] {
  const sessions = workspace.path('home/sessions')
  const file = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('session.jsonl'),
  )
  const transcript = normalise(parseTranscript(readFileSync(path.join(sessions, file ?? ''), 'utf8')), {
    cwd: [workspace.path('w')],
    home: [workspace.path('home')],
  })
  return projectTranscript(transcript).trimEnd().split('\n')
}
