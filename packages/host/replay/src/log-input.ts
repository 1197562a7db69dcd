import type { JsonObject } from '@dsh/core'
import type { Step } from './steps.ts'
import type { RecordedEvent, Transcript } from './transcript.ts'

/** What a log shows a person to have done. */
export interface LogInput {
  readonly steps: readonly Step[]
  /** One per approval request, in order. */
  readonly permissionAnswers: readonly { readonly kind: string }[]
  /** What happened at a moment that a log does not hold, as sentences: `turn 1 was cancelled`. */
  readonly doubts: readonly string[]
}

/** Reads the prompts, commands, answers and interruptions off a log, for one that comes without an `input.json`. */
export function inputOfLog(transcript: Transcript): LogInput {
  const steps: Step[] = []
  const permissionAnswers: { kind: string }[] = []
  const doubts: string[] = []
  let open: number | undefined
  let calls = 0
  let chunks = 0
  /** How many of them there were when the answer was cut off. */
  let cutAt = 0
  /** The last thing that happened: a call, which was running when the turn was stopped, or a piece of an answer. */
  let last: 'call' | 'chunk' | undefined
  /** Turns the prompt that opened the turn into what somebody did while it ran. */
  const during = (what: string, when: object | undefined, change: (text: string) => Step) => {
    const at = steps.findLastIndex(({ op }) => op === 'prompt')
    const prompt = steps[at]
    if (prompt?.op === 'prompt') steps[at] = { ...change(prompt.text), ...when }
    if (prompt?.op !== 'prompt' || when === undefined) doubts.push(`turn ${open} ${what}`)
  }
  const inCall = () => (last === 'call' ? { waitForCalls: calls } : undefined)
  const inAnswer = () => (last === 'chunk' ? { waitForChunks: cutAt } : undefined)
  const killed = (end: number) => {
    const when = { waitForEvents: beforeClosers(transcript.events, end) }
    during('was killed', when, (text) => ({ op: 'promptAndKill', text }))
  }
  for (const [at, { type, data }] of transcript.events.entries()) {
    switch (type) {
      case 'session/end-seed':
        if (open !== undefined) killed(at)
        open = undefined
        if (steps.length > 0) steps.push({ op: 'resume' })
        break
      case 'turn/start':
        open = data['turn'] as number
        last = undefined
        break
      case 'turn/end': {
        const reason = data['reason'] as JsonObject
        if (reason['kind'] === 'interrupted') killed(at)
        if (reason['kind'] === 'aborted') {
          const byUser = (reason['reason'] as JsonObject | undefined)?.['kind'] === 'user'
          if (byUser) during('was cancelled', inCall() ?? inAnswer(), (text) => ({ op: 'promptAndCancel', text }))
          else doubts.push(`turn ${open} was stopped by a limit`)
        }
        open = undefined
        break
      }
      case 'agent/inbox/spliced': {
        const said = ((data['inserted'] ?? []) as JsonObject[]).filter(isFromUser)
        if (data['target'] === 'next-turn') steps.push(...said.map(promptOf))
        else for (const message of said) steerWith(textOf(message))
        break
      }
      case 'tool/call':
        calls++
        last = 'call'
        break
      case 'assistant/chunk':
        chunks++
        noteChunk(data['chunk'] as JsonObject)
        break
      case 'command/run':
        steps.push({ op: 'command', text: `/${data['name']}${data['args'] === undefined ? '' : ` ${data['args']}`}` })
        break
      case 'approval/decided':
        permissionAnswers.push({ kind: answerKinds[String(data['outcome'])] ?? 'cancelled' })
        break
    }
  }
  if (open !== undefined) killed(transcript.events.length)
  return { steps, permissionAnswers, doubts }

  /** A finish that says `aborted` is not the end of an answer but the mark of where it was cut off. */
  function noteChunk({ type, reason }: JsonObject): void {
    const cut = type === 'finish' && (reason as JsonObject)['kind'] === 'aborted'
    last = type === 'finish' && !cut ? undefined : 'chunk'
    cutAt = cut ? chunks - 1 : chunks
  }

  function steerWith(steer: string | undefined): void {
    if (steer === undefined) doubts.push(`turn ${open} was given more than text while it ran`)
    else during('was given more words while it ran', inCall(), (text) => ({ op: 'promptAndSteer', text, steer }))
  }
}

/** How many events a killed process had left, where `end` is the `turn/end` that was written for it later, if one was. */
function beforeClosers(events: readonly RecordedEvent[], end: number): number {
  let count = end
  if (events[count - 1]?.type === 'step/end' && events[end]?.type === 'turn/end') count--
  while (isCloser(events[count - 1])) count--
  return count
}

function isCloser(event: RecordedEvent | undefined): boolean {
  const id = event?.type === 'tool/result' ? (event.data['message'] as JsonObject)['id'] : undefined
  return typeof id === 'string' && id.startsWith('interrupted-tool-result-')
}

const answerKinds: { readonly [outcome: string]: string } = { 'allowed-once': 'allow_once', rejected: 'reject_once' }

function isFromUser(message: JsonObject): boolean {
  return (message['source'] as JsonObject)['kind'] === 'user'
}

function promptOf(message: JsonObject): Step {
  const text = textOf(message)
  return text === undefined
    ? { op: 'promptContent', content: message['content'] as Record<string, unknown>[] }
    : { op: 'prompt', text }
}

/** The words of a message that is nothing but words. */
function textOf(message: JsonObject): string | undefined {
  const content = message['content'] as JsonObject[]
  return content.length === 1 && content[0]?.['type'] === 'text' ? (content[0]['text'] as string) : undefined
}
