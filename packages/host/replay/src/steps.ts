import * as z from 'zod'

const timeoutMs = z.int().positive().optional()
const waitForFile = z.object({ path: z.string() }).optional()
/** Until the session holds this many `tool/call` events: the last of them is running. */
const waitForCalls = z.int().positive().optional()
/** Until the session holds this many `assistant/chunk` events; the model waits there to be cut off. */
const waitForChunks = z.int().positive().optional()
/** Until the session holds this many events; no later one of the killed process counts, since none reached the disk. */
const waitForEvents = z.int().positive().optional()

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
  /** Submits a prompt, and cancels once the file is there or the call runs (or once text has arrived). */
  z.object({ op: z.literal('promptAndCancel'), text: z.string(), waitForFile, waitForCalls, waitForChunks, timeoutMs }),
  /** Submits a prompt, and once the file is there sends more into the running turn. */
  z.object({
    op: z.literal('promptAndSteer'),
    text: z.string(),
    steer: z.string(),
    waitForFile,
    waitForCalls,
    timeoutMs,
  }),
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
  /**
   * Submits a prompt and kills the process (SIGKILL) once the file is there, the call runs or the log is as long as it
   * got. A `resume` takes the session up again; without one it ends there.
   */
  z.object({
    op: z.literal('promptAndKill'),
    text: z.string(),
    waitForFile,
    waitForCalls,
    waitForChunks,
    waitForEvents,
    timeoutMs,
  }),
  /** Ends the process; a new one takes the session up again. */
  z.object({ op: z.literal('resume') }),
])
export const stepsSchema = z.array(stepSchema).min(1)
export type Step = z.infer<typeof stepSchema>

/** Steps per process: a `resume` starts the next one. */
export function processesOf(steps: readonly Step[]): Step[][] {
  const processes: Step[][] = [[]]
  for (const step of steps) {
    if (step.op === 'resume') processes.push([])
    else processes.at(-1)?.push(step)
  }
  return processes
}
