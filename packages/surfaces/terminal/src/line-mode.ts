import readline from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Agent } from '@dsh/agent'
import { errorAdvice, errorText } from '@dsh/core'
import type { ApprovalAnswer } from '@dsh/user-approval'
import type { App } from './app.ts'
import type { TerminalStartup } from './args.ts'
import { toolCard } from './cards/tool.ts'
import { createTranscript, type Item } from './items.ts'
import { createQuestions } from './line-questions.ts'
import { sanitize } from './sanitize.ts'
import { farewellOf, type OpenRequest, openAnother, openSession } from './session-control.ts'
import { noSuchCommand, ownCommands, parseSlash } from './slash.ts'
import { beginWith, runOwnCommand, type SlashContext } from './slash-run.ts'
import { startLines } from './start-line.ts'
import type { TerminalHost } from './terminal-host.ts'
import { createTheme } from './theme.ts'
import { applyEvent } from './transcript.ts'
import { approvalLines } from './view/approval-prompt.ts'

/** Milliseconds after which a tool that still runs is told. */
const slowAfter = 1000

export interface LineOptions {
  readonly host: TerminalHost
  readonly startup: TerminalStartup
  /** The session to begin with; `choose` = a list to choose from. */
  readonly first: OpenRequest | 'choose'
  readonly input: Readable
  readonly output: Writable
}

/** For screen readers, dumb terminals and logs: each thing is printed once, as a line, when it is complete. */
export function startLineMode(options: LineOptions): App {
  const { host, startup } = options
  const theme = createTheme({ NO_COLOR: '1' })
  const reader = readline.createInterface({ input: options.input, output: options.output, prompt: 'you> ' })
  let agent: Agent | undefined
  let transcript = createTranscript()
  let printed = new Set<number>()
  const questions = createQuestions((text) => print(text))
  let finish: () => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  const slow = new Set<NodeJS.Timeout>()
  let over = false
  const leave = () => {
    over = true
    finish()
  }
  const ready = () => {
    if (!over) reader.prompt()
  }
  const print = (text: string) => options.output.write(`${text}\n`)
  const flushSettled = () => {
    for (const item of transcript.items) {
      if (!item.settled || printed.has(item.id)) continue
      printed.add(item.id)
      for (const line of plainLines(item)) print(line)
    }
  }
  const plainLines = (item: Item): string[] => {
    switch (item.kind) {
      case 'answer':
        return item.text.trim() === '' ? [] : [`dsh: ${sanitize(item.text.trim())}`]
      case 'notice':
        return [`note: ${sanitize(item.text)}`]
      case 'tool':
        return toolCard(item, { theme, width: 100, expanded: false }).map((line, at) =>
          at === 0 ? `tool: ${line}` : line,
        )
      default:
        return []
    }
  }
  /** What runs for longer is told while it runs, for there is no line of its own to watch. */
  const announceIfSlow = (callId: string) => {
    const timer = setTimeout(() => {
      slow.delete(timer)
      const item = transcript.items.find(
        (entry) => entry.kind === 'tool' && entry.callId === callId && entry.state === 'running',
      )
      if (item?.kind !== 'tool' || questions.waiting) return
      const [title] = toolCard(item, { theme, width: 100, expanded: false })
      print(`running: ${title} (Ctrl+C cancels)`)
    }, slowAfter)
    slow.add(timer)
  }
  const attach = (next: Agent) => {
    agent = next
    transcript = createTranscript()
    printed = new Set()
    for (const event of next.session.events) applyEvent(transcript, event)
    for (const item of transcript.items.slice(0, -10)) printed.add(item.id)
    flushSettled()
  }
  const slash: SlashContext = {
    host,
    agent: () => agent,
    notice: (text) => print(`note: ${text}`),
    pick: async (title, items) => {
      const list = items.slice(0, 30).map((item, at) => {
        return `${at + 1}. ${item.label}${item.description === undefined ? '' : ` — ${item.description}`}`
      })
      const question = [...list, `${title}: a number, or nothing to leave`].join('\n')
      const number = Number(await questions.ask(question))
      return items[number - 1]?.value
    },
    askSecret: async () => {
      print('note: a secret would be shown in line mode; leave and run: dsh login')
      return false
    },
    open: async (request) => {
      try {
        const before = agent
        if (before !== undefined && request.kind === 'resume' && request.fork) await host.flush(before.session)
        attach(await openAnother(host, startup, request))
        await before?.dispose()
        return true
      } catch (error) {
        print(`note: ${errorAdvice(error)}`)
        return false
      }
    },
    leave,
    today: () => new Date(),
  }
  const submit = async (text: string) => {
    const prompt = text.trim()
    if (prompt === '' || agent === undefined) return
    const command = parseSlash(prompt)
    if (command === undefined) {
      agent.followup(prompt)
      return
    }
    if (ownCommands.some((own) => own.name === command.name)) await runOwnCommand(slash, command.name, command.args)
    else if (host.commands(agent).some((entry) => entry.name === command.name)) {
      const { text } = await host.runCommand(agent, command.name, command.args)
      if (text !== '') print(`note: ${text}`)
    } else print(`note: ${noSuchCommand(command.name, host.commands(agent))}`)
  }
  const undo = [
    host.onEvent((session, event) => {
      if (session !== agent?.session) return
      applyEvent(transcript, event)
      flushSettled()
      if (event.type === 'tool/call') announceIfSlow(event.data.callId)
      if (event.type === 'turn/end') ready()
    }),
    host.onNotice((text) => print(`note: ${text}`)),
    host.onApproval(async (request, signal): Promise<ApprovalAnswer> => {
      const lines = [...approvalLines(request, 100, theme), 'type yes to allow it once, or no, or no and a reason']
      const reply = (await questions.ask(lines.join('\n'), signal))?.trim()
      if (reply === undefined) return 'cancelled'
      if (reply === 'yes' || reply === 'y') return 'allowed-once'
      const note = /^no?\b[\s,:]*(.+)$/.exec(reply)?.[1]
      return note === undefined ? 'rejected' : { outcome: 'rejected', note }
    }),
  ]
  const submitSafely = async (line: string) => {
    await submit(line).catch((error: unknown) => print(`note: ${errorText(error)}`))
    if (agent?.status !== 'running') ready()
  }
  reader.on('line', (line) => {
    if (!questions.answer(line)) void submitSafely(line)
  })
  reader.on('SIGINT', () => {
    if (questions.answer(undefined)) return
    if (agent?.status !== 'running') return leave()
    const waiting = transcript.queued.map((entry) => entry.text).filter((text) => text !== '')
    agent.cancel({ kind: 'user' })
    for (const text of waiting) print(`note: cancelled with the turn and not sent: ${sanitize(text)}`)
  })
  // The end of the input is not the end of the work.
  reader.on('close', () => {
    over = true
    questions.close()
    if (agent === undefined) leave()
    else void agent.whenIdle().then(leave)
  })

  begin().catch(fail)

  async function begin(): Promise<void> {
    const request = await beginWith(slash, options.first, startup.forkSession)
    if (request === undefined) return leave()
    attach(await openSession(host, startup, request))
    const key = await host.keySource()
    if (agent !== undefined)
      for (const line of await startLines(host, agent, startup, { key, statusShown: false })) print(line.text)
    if (key === undefined) print('note: no API key is set; run dsh login, or export DEEPSEEK_API_KEY')
    if (startup.prompt !== undefined) {
      print(`you> ${startup.prompt}`)
      await submit(startup.prompt)
    }
    ready()
  }

  return {
    done,
    stop() {
      for (const dispose of undo) dispose()
      for (const timer of slow) clearTimeout(timer)
      reader.close()
    },
    farewell: () => farewellOf(agent?.session, startup),
  }
}
