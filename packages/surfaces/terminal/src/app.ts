import path from 'node:path'
import type { Agent } from '@dsh/agent'
import { errorAdvice, errorText } from '@dsh/core'
import type { ApprovalAnswer, ApprovalRequest } from '@dsh/user-approval'
import { Editor, isKeyRelease, matchesKey, type Terminal } from '@mariozechner/pi-tui'
import type { TerminalStartup } from './args.ts'
import { createItemRenderer } from './cards/item.ts'
import { createPictures } from './cards/pictures.ts'
import { createCompletion } from './completion.ts'
import { createHighlighter } from './highlight.ts'
import { createTranscript, say, type Transcript } from './items.ts'
import { addToHistory, loadHistory } from './prompt-history.ts'
import { oneLine } from './sanitize.ts'
import { farewellOf, type OpenRequest, openAnother, openSession } from './session-control.ts'
import { noSuchCommand, ownCommands, parseSlash } from './slash.ts'
import { beginWith, runOwnCommand, type SlashContext } from './slash-run.ts'
import { firstRun, startLines } from './start-line.ts'
import type { TerminalHost } from './terminal-host.ts'
import { createTheme, editorTheme } from './theme.ts'
import { applyEvent } from './transcript.ts'
import { ApprovalPrompt } from './view/approval-prompt.ts'
import { ActivityPanel, StatusBar } from './view/footer.ts'
import { Picker, type PickerOptions } from './view/picker.ts'
import { Screen } from './view/screen.ts'
import { SecretPrompt } from './view/secret-prompt.ts'
import { Slot } from './view/slot.ts'
import { TranscriptView } from './view/transcript-view.ts'

export interface App {
  /** Resolves when the person leaves; rejects when there is no session to work in. */
  readonly done: Promise<void>
  /** Puts the terminal back as it was; safe to call twice and from a crash handler. */
  stop(): void
  /** What to print after the terminal is back. */
  farewell(): string | undefined
}

export interface AppOptions {
  readonly host: TerminalHost
  readonly startup: TerminalStartup
  /** The session to begin with; `choose` = the picker. */
  readonly first: OpenRequest | 'choose'
  readonly terminal: Terminal
  readonly env: NodeJS.ProcessEnv
}

/** The interactive session on a screen. */
export function startApp(options: AppOptions): App {
  const { host, startup } = options
  const theme = createTheme(options.env)
  const renderer = createItemRenderer(
    theme,
    createHighlighter(theme, () => redraw(true)),
    createPictures(
      theme,
      (ref) => host.readPicture(ref),
      () => redraw(true),
    ),
  )
  let transcript: Transcript = createTranscript()
  let agent: Agent | undefined
  const view = new TranscriptView(transcript, renderer)
  const screen = new Screen(options.terminal, (lines, width) => view.commit(lines, width))
  const editor = new Editor(screen, editorTheme(theme))
  const historyFile = path.join(host.home, 'prompt-history.jsonl')
  let finish: () => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  let lastInterrupt = 0
  let lastLeave = 0
  let ticking: NodeJS.Timeout | undefined
  let stopped = false

  const redraw = (fresh = false) => {
    if (fresh) view.invalidate()
    screen.requestRender()
  }
  const notice = (text: string, tone: 'info' | 'warn' | 'bad' = 'info') => {
    say(transcript, text, tone)
    redraw()
  }
  const tick = () => {
    const busy = transcript.turnOpen || (agent !== undefined && host.jobs(agent).length > 0)
    if (busy && ticking === undefined) {
      ticking = setInterval(() => {
        redraw()
        tick()
      }, 100)
    }
    if (!busy && ticking !== undefined) {
      clearInterval(ticking)
      ticking = undefined
    }
  }

  const questions = new Slot(screen, editor, () => redraw())
  const pick = (title: string, items: PickerOptions['items'], preview?: PickerOptions['preview']) =>
    questions.ask<string | undefined>(
      (answer) =>
        new Picker({
          title,
          items,
          theme,
          ...(preview === undefined ? {} : { preview }),
          done: (item) => answer(item?.value),
        }),
      undefined,
    )
  const askSecret: SlashContext['askSecret'] = (title, accept) =>
    questions.ask<boolean>((done) => new SecretPrompt({ title, theme, accept, done, changed: () => redraw() }), false)

  const attach = (next: Agent) => {
    // What was said before there was a session belongs to the first one.
    const early = agent === undefined ? transcript.items : []
    agent = next
    transcript = createTranscript()
    for (const event of next.session.events) applyEvent(transcript, event)
    for (const item of early) if (item.kind === 'notice') say(transcript, item.text, item.tone)
    view.show(transcript)
    tick()
    redraw()
  }
  const open = async (request: OpenRequest): Promise<boolean> => {
    const before = agent
    try {
      if (before !== undefined && request.kind === 'resume' && request.id === before.session.id && !request.fork)
        return true
      if (before !== undefined && request.kind === 'resume' && request.fork) await host.flush(before.session)
      attach(await openAnother(host, startup, request))
      if (before !== undefined) await before.dispose()
      return true
    } catch (error) {
      notice(errorAdvice(error), 'bad')
      return false
    }
  }

  const slash: SlashContext = {
    host,
    agent: () => agent,
    notice,
    pick,
    askSecret,
    open,
    leave: () => finish(),
    today: () => new Date(),
  }
  const remember = (text: string) => {
    const prompt = text.trim()
    if (prompt === '') return
    editor.addToHistory(prompt)
    void addToHistory(historyFile, prompt).catch(() => undefined)
  }
  const submit = async (text: string, steer: boolean) => {
    const prompt = text.trim()
    if (prompt === '' || agent === undefined) return
    remember(prompt)
    const command = parseSlash(prompt)
    if (command !== undefined) {
      notice(`/${command.name}${command.args === '' ? '' : ` ${oneLine(command.args, 80)}`}`)
      if (ownCommands.some((own) => own.name === command.name)) await runOwnCommand(slash, command.name, command.args)
      else if (host.commands(agent).some((entry) => entry.name === command.name)) {
        const reply = await host.runCommand(agent, command.name, command.args)
        if (reply.text !== '') notice(reply.text, reply.ok ? 'info' : 'bad')
      } else notice(noSuchCommand(command.name, host.commands(agent)), 'warn')
      return
    }
    if (steer && agent.status === 'running') agent.steer(prompt)
    else agent.followup(prompt)
    tick()
  }
  const submitSafely = (text: string, steer: boolean) => {
    submit(text, steer).catch((error: unknown) => notice(errorText(error), 'bad'))
  }

  const cancelTurn = () => {
    if (agent === undefined || agent.status !== 'running') return
    const waiting = transcript.queued.map((entry) => entry.text).filter((text) => text !== '')
    agent.cancel({ kind: 'user' })
    // What was queued is not lost: it comes back for another look.
    if (waiting.length > 0)
      editor.setText([...waiting, editor.getExpandedText()].filter((text) => text !== '').join('\n'))
  }
  const interrupt = () => {
    const now = Date.now()
    if (questions.cancel()) return
    if (editor.getText() !== '') {
      // What was typed or given back by a cancelled turn is one ↑ away, in the next session too.
      remember(editor.getExpandedText())
      editor.setText('')
      redraw()
    } else if (agent?.status === 'running') cancelTurn()
    else if (now - lastInterrupt < 2000) {
      finish()
      return
    } else notice('press Ctrl+C again to leave')
    lastInterrupt = now
  }
  /** Work that runs is not ended by one key. */
  const leave = () => {
    const now = Date.now()
    if (agent?.status !== 'running' || now - lastLeave < 2000) return finish()
    lastLeave = now
    notice('a turn is running: Ctrl+D again ends it and leaves, Esc cancels it and stays')
  }
  const suspend = () => {
    screen.stop()
    const back = () => {
      clearTimeout(unstopped)
      process.off('SIGCONT', back)
      if (stopped) return
      screen.start()
      view.show(transcript)
      screen.requestRender(true)
    }
    process.once('SIGCONT', back)
    // Where no shell is there to come back to, nothing is stopped; and without a handle the program would end here.
    const unstopped = setTimeout(back, 200)
    process.kill(0, 'SIGTSTP')
  }

  screen.addInputListener((data) => {
    if (isKeyRelease(data)) return undefined
    if (matchesKey(data, 'ctrl+c')) return consume(interrupt)
    if (matchesKey(data, 'ctrl+z')) return consume(suspend)
    if (matchesKey(data, 'ctrl+o')) {
      return consume(() => {
        view.expanded = !view.expanded
        view.show(transcript)
        screen.requestRender(true)
      })
    }
    if (questions.open) return matchesKey(data, 'ctrl+d') ? consume(() => questions.cancel()) : undefined
    if (matchesKey(data, 'escape') && !editor.isShowingAutocomplete() && agent?.status === 'running')
      return consume(cancelTurn)
    if (matchesKey(data, 'ctrl+d') && editor.getText() === '') return consume(leave)
    if (matchesKey(data, 'ctrl+j'))
      return consume(() => {
        editor.insertTextAtCursor('\n')
        redraw()
      })
    if (matchesKey(data, 'alt+enter') && editor.getText() !== '') {
      return consume(() => {
        const text = editor.getExpandedText()
        editor.setText('')
        submitSafely(text, true)
      })
    }
    return undefined
  })
  editor.onSubmit = (text) => submitSafely(text, false)
  editor.setAutocompleteProvider(
    createCompletion({
      commands: () => [...ownCommands, ...(agent === undefined ? [] : host.commands(agent))],
      files: async (query, signal) => (agent === undefined ? [] : host.files(agent, query, signal)),
    }),
  )

  const undo = [
    host.onEvent((session, event) => {
      if (session !== agent?.session) return
      applyEvent(transcript, event)
      tick()
      redraw()
    }),
    host.onStatus((changed) => {
      if (changed === agent) {
        tick()
        redraw()
      }
    }),
    host.onApproval((request: ApprovalRequest, signal: AbortSignal) => {
      options.terminal.write('\x07')
      return questions.ask<ApprovalAnswer>((answer) => new ApprovalPrompt(request, theme, answer), 'cancelled', signal)
    }),
    host.onNotice((text) => notice(text, 'warn')),
  ]

  screen.addChild(view)
  screen.addChild(
    new ActivityPanel(
      () => transcript,
      () => (agent === undefined ? [] : host.jobs(agent)),
      theme,
    ),
  )
  screen.addChild(questions.container)
  screen.addChild(new StatusBar(() => (agent === undefined ? undefined : host.status(agent)), theme))
  questions.show()
  screen.start()
  void host.sandboxKnown().then(() => redraw())

  const stop = () => {
    if (stopped) return
    stopped = true
    for (const dispose of undo) dispose()
    clearInterval(ticking)
    screen.leave(view)
  }

  // Whoever started this can stop it from now on, whatever question is open.
  begin().catch((error: unknown) => {
    stop()
    fail(error)
  })

  async function begin(): Promise<void> {
    for (const entry of await loadHistory(historyFile)) editor.addToHistory(entry)
    const request = await beginWith(slash, options.first, startup.forkSession)
    if (request === undefined) return finish()
    attach(await openSession(host, startup, request))
    const key = await host.keySource()
    if (agent !== undefined)
      for (const line of await startLines(host, agent, startup, { key, statusShown: true }))
        notice(line.text, line.tone)
    if (key === undefined) await firstRun(slash)
    if (startup.prompt !== undefined) submitSafely(startup.prompt, false)
  }

  return {
    done,
    stop,
    farewell: () => farewellOf(agent?.session, startup),
  }
}

function consume(action: () => void): { consume: true } {
  action()
  return { consume: true }
}
