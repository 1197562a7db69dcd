import type { JsonObject } from '@dsh/core'
import type { Step } from './steps.ts'
import type { Transcript } from './transcript.ts'

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
  /** A call was the last thing that happened, so it was running when the turn was stopped. */
  let calling = false
  /** Turns the prompt that opened the turn into what somebody did while it ran. */
  const during = (what: string, change: (text: string, when: { waitForCalls?: number }) => Step) => {
    const at = steps.findLastIndex(({ op }) => op === 'prompt')
    const prompt = steps[at]
    if (prompt?.op === 'prompt') steps[at] = change(prompt.text, calling ? { waitForCalls: calls } : {})
    if (prompt?.op !== 'prompt' || !calling) doubts.push(`turn ${open} ${what}`)
  }
  const killed = () => during('was killed', (text, when) => ({ op: 'promptAndKill', text, ...when }))
  for (const { type, data } of transcript.events as readonly { type: string; data: JsonObject }[]) {
    switch (type) {
      case 'session/end-seed':
        if (open !== undefined) killed()
        open = undefined
        if (steps.length > 0) steps.push({ op: 'resume' })
        break
      case 'turn/start':
        open = data['turn'] as number
        calling = false
        break
      case 'turn/end': {
        const reason = data['reason'] as JsonObject
        if (reason['kind'] === 'interrupted') killed()
        if (reason['kind'] === 'aborted') {
          const byUser = (reason['reason'] as JsonObject | undefined)?.['kind'] === 'user'
          if (byUser) during('was cancelled', (text, when) => ({ op: 'promptAndCancel', text, ...when }))
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
        calling = true
        break
      case 'assistant/chunk':
        calling = false
        break
      case 'command/run':
        steps.push({ op: 'command', text: `/${data['name']}${data['args'] === undefined ? '' : ` ${data['args']}`}` })
        break
      case 'approval/decided':
        permissionAnswers.push({ kind: answerKinds[String(data['outcome'])] ?? 'cancelled' })
        break
    }
  }
  if (open !== undefined) killed()
  return { steps, permissionAnswers, doubts }

  function steerWith(steer: string | undefined): void {
    if (steer === undefined) doubts.push(`turn ${open} was given more than text while it ran`)
    else during('was given more words while it ran', (text, when) => ({ op: 'promptAndSteer', text, steer, ...when }))
  }
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
