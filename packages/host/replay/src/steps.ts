import type { JsonObject } from '@dsh/core'
import * as z from 'zod'
import type { Transcript } from './transcript.ts'

const timeoutMs = z.int().positive().optional()
const waitForFile = z.object({ path: z.string() }).optional()

/** What a person does during the session, in order. The names are the reference's; `command`, `kill` and `resume` are ours. */
export const stepSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('initialize') }),
  z.object({ op: z.literal('newSession') }),
  /** Every prompt is waited for; the reference's recordings say so again. */
  z.object({ op: z.literal('waitForTurnEnd'), timeoutMs }),
  /** Submits a prompt and waits until the agent is idle. */
  z.object({ op: z.literal('prompt'), text: z.string(), timeoutMs }),
  /** A prompt whose turn is expected to fail; the log says whether it did. */
  z.object({ op: z.literal('promptExpectError'), text: z.string(), timeoutMs }),
  z.object({ op: z.literal('promptContent'), content: z.array(z.record(z.string(), z.unknown())), timeoutMs }),
  /** Submits a prompt, and cancels once the file is there (or once text has arrived). */
  z.object({ op: z.literal('promptAndCancel'), text: z.string(), waitForFile, timeoutMs }),
  /** Submits a prompt, and once the file is there sends more into the running turn. */
  z.object({ op: z.literal('promptAndSteer'), text: z.string(), steer: z.string(), waitForFile, timeoutMs }),
  /** Writes a file as somebody else would, between two prompts. */
  z.object({ op: z.literal('writeFile'), path: z.string(), text: z.string() }),
  /** Submits a prompt, and once the file is there writes another behind the agent's back. */
  z.object({
    op: z.literal('promptAndWriteFile'),
    text: z.string(),
    waitForFile,
    path: z.string(),
    content: z.string(),
    timeoutMs,
  }),
  z.object({ op: z.literal('command'), text: z.string(), timeoutMs }),
  /** Submits a prompt and kills the process (SIGKILL) once the file is there. Has to be followed by `resume`. */
  z.object({ op: z.literal('promptAndKill'), text: z.string(), waitForFile, timeoutMs }),
  /** Ends the process; a new one takes the session up again. */
  z.object({ op: z.literal('resume') }),
])
export const stepsSchema = z.array(stepSchema).min(1)
export type Step = z.infer<typeof stepSchema>

/** The prompts that a log shows a person to have given, for a log that comes without an `input.json`. */
export function stepsOfLog(transcript: Transcript): Step[] {
  const steps: Step[] = []
  for (const event of transcript.events) {
    if (event.type === 'session/end-seed' && steps.length > 0) steps.push({ op: 'resume' })
    if (event.type !== 'agent/inbox/spliced' || event.data['target'] !== 'next-turn') continue
    for (const message of event.data['inserted'] as JsonObject[])
      if ((message['source'] as JsonObject)['kind'] === 'user') steps.push(promptOf(message))
  }
  return steps
}

function promptOf(message: JsonObject): Step {
  const content = message['content'] as JsonObject[]
  if (content.length === 1 && content[0]?.['type'] === 'text')
    return { op: 'prompt', text: content[0]['text'] as string }
  return { op: 'promptContent', content: content as Record<string, unknown>[] }
}

/** Steps per process: a `resume` starts the next one. */
export function processesOf(steps: readonly Step[]): Step[][] {
  const processes: Step[][] = [[]]
  for (const step of steps) {
    if (step.op === 'resume') processes.push([])
    else processes.at(-1)?.push(step)
  }
  return processes
}
