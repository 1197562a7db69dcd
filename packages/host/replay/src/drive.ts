import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import readline from 'node:readline'
import type { SessionEvent } from '@dsh/session'
import { catalogueOf, moreRowsOf, permissionModeOf, routeOf } from './catalogue.ts'
import { replayPatch } from './composition.ts'
import type { DriverLine } from './driver.ts'
import type { Fixture } from './fixture.ts'
import { overrideOf } from './replies.ts'
import { type Scratch, scratchEnv } from './scratch.ts'
import { scriptFor, scriptOfProcess, scriptText } from './script.ts'
import { processesOf } from './steps.ts'
import { cutLog, sessionLogs } from './stored-logs.ts'
import type { Transcript } from './transcript.ts'

export interface DriveOptions {
  /** `[node, bin/dsh.js]` */
  readonly command: readonly string[]
  /** More patch files, after the fixture's. */
  readonly patches?: readonly string[]
  /** Ask the model of the environment instead of playing the transcript. */
  readonly live?: boolean
  readonly paceMs?: number
  readonly permissionMode?: string
  readonly env?: Record<string, string>
  readonly onEvent?: (event: SessionEvent) => void
  readonly signal?: AbortSignal
}

/** What a run left behind. `problem` = the process did not get to the end of the steps. */
export interface Driven {
  readonly primary: Transcript | undefined
  readonly children: readonly Transcript[]
  readonly stderr: string
  readonly problem: string | undefined
}

/** Plays the fixture in its scratch copy, one process after the other, and collects the logs. */
export async function drive(fixture: Fixture, scratch: Scratch, options: DriveOptions): Promise<Driven> {
  const processes = processesOf(fixture.steps)
  let sessionId: string | undefined
  let stderr = ''
  let problem: string | undefined
  for (const [index, steps] of processes.entries()) {
    const last = await runProcess(fixture, scratch, options, { index, steps, resume: sessionId })
    stderr += last.stderr
    sessionId = last.sessionId ?? sessionId
    problem = last.problem
    if (problem !== undefined) break
    const end = steps.at(-1)
    if (end?.op === 'promptAndKill' && end.waitForEvents !== undefined)
      await cutLog(path.join(scratch.home, 'sessions'), sessionId, end.waitForEvents)
  }
  const logs = await sessionLogs(path.join(scratch.home, 'sessions'))
  const primary = logs.find((log) => log.header['id'] === sessionId)
  return { primary, children: logs.filter((log) => log !== primary), stderr, problem }
}

interface Leg {
  readonly index: number
  readonly steps: readonly Fixture['steps'][number][]
  readonly resume: string | undefined
}

async function runProcess(fixture: Fixture, scratch: Scratch, options: DriveOptions, leg: Leg) {
  const model = options.live ? undefined : await writeScripts(fixture, scratch, leg.index, options.paceMs)
  const plan = {
    steps: leg.steps,
    ...(options.live && fixture.transcript.events.length === 0 ? {} : { route: routeOf(fixture.transcript) }),
    narrate: options.onEvent !== undefined,
    ...(leg.resume === undefined ? {} : { resume: leg.resume }),
    ...(fixture.input.permissionAnswers === undefined ? {} : { answers: fixture.input.permissionAnswers }),
  }
  await writeFile(scratch.patch, replayPatch(plan, model, moreRowsOf(fixture.transcript)))
  const patches = [scratch.patch, ...(fixture.patch === undefined ? [] : [fixture.patch]), ...(options.patches ?? [])]
  const mode = options.permissionMode ?? fixture.input.permissionMode ?? permissionModeOf(fixture.transcript)
  const [program, ...words] = options.command as [string, ...string[]]
  const child = spawn(program, [...words, '--profile', 'headless', ...patches.flatMap((file) => ['--patch', file])], {
    cwd: scratch.workspace,
    env: scratchEnv(scratch, process.env, {
      ...(mode === undefined ? {} : { DSH_PERMISSION_MODE: mode }),
      ...options.env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return await follow(child, {
    timeoutMs: fixture.input.timeoutMs ?? 120_000,
    killed: leg.steps.at(-1)?.op === 'promptAndKill',
    onEvent: options.onEvent,
    signal: options.signal,
  })
}

async function writeScripts(fixture: Fixture, scratch: Scratch, index: number, paceMs: number | undefined) {
  const play = (transcript: Transcript) => scriptText(scriptOfProcess(scriptFor(transcript, scratch.workspace), index))
  await writeFile(scratch.script, play(fixture.transcript))
  const childFiles = await Promise.all(
    fixture.children.map(async (child, i) => {
      const file = path.join(scratch.root, `script.${i + 1}.jsonl`)
      await writeFile(file, scriptText(scriptFor(child.transcript, scratch.workspace)))
      return file
    }),
  )
  const override = await writeOverride(fixture, scratch, index)
  return {
    file: scratch.script,
    ...(childFiles.length === 0 ? {} : { childFiles }),
    ...(override === undefined ? {} : { override }),
    holdUnfinished: fixture.steps.some(
      (step) => step.op === 'promptAndKill' || ('waitForChunks' in step && step.waitForChunks !== undefined),
    ),
    ...(paceMs === undefined ? {} : { paceMs }),
    providers: catalogueOf(fixture.transcript),
  }
}

/** The fixture's own override file for the first process, or the words of `script.json` for each. */
async function writeOverride(fixture: Fixture, scratch: Scratch, index: number): Promise<string | undefined> {
  const text =
    fixture.script !== undefined
      ? JSON.stringify(overrideOf(fixture.script, index))
      : fixture.override !== undefined && index === 0
        ? await readFile(fixture.override, 'utf8')
        : undefined
  if (text === undefined) return undefined
  const file = path.join(scratch.root, 'override.json')
  await writeFile(file, text.replaceAll('{{cwd}}', scratch.workspace))
  return file
}

interface FollowOptions {
  readonly timeoutMs: number
  readonly killed: boolean
  readonly onEvent: ((event: SessionEvent) => void) | undefined
  readonly signal: AbortSignal | undefined
}

async function follow(child: ChildProcess, options: FollowOptions) {
  let sessionId: string | undefined
  let failure: string | undefined
  let done = false
  let stderr = ''
  const lines = readline.createInterface({ input: child.stdout as NodeJS.ReadableStream })
  lines.on('line', (text) => {
    const line = driverLine(text)
    if (line === undefined) return
    if (line.replay === 'session') sessionId = line.sessionId
    else if (line.replay === 'event') options.onEvent?.(line.event)
    else if (line.replay === 'failed') failure = line.message
    else done = true
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 6000).unref()
  }, options.timeoutMs)
  const stop = () => child.kill('SIGTERM')
  options.signal?.addEventListener('abort', stop)
  const end = await new Promise<{ code: number | null; signal: string | null; error?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  clearTimeout(timer)
  options.signal?.removeEventListener('abort', stop)
  return { sessionId, stderr, problem: problemOf() }

  function problemOf(): string | undefined {
    if (timedOut) return `did not end within ${options.timeoutMs} ms`
    if (options.killed && end.signal === 'SIGKILL') return undefined
    if (failure !== undefined) return failure
    if (done && end.code === 0) return undefined
    const how = end.error?.message ?? (end.signal === null ? `exit code ${end.code}` : `killed by ${end.signal}`)
    return `the session process ended early (${how})${stderr === '' ? '' : `\n${stderr.trimEnd()}`}`
  }
}

function driverLine(text: string): DriverLine | undefined {
  if (!text.startsWith('{"replay":')) return undefined
  return JSON.parse(text) as DriverLine
}
