import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Driven, type DriveOptions, drive } from './drive.ts'
import type { Fixture } from './fixture.ts'
import { comparePins, pinFiles, pinsOf } from './header-pins.ts'
import { normalise, textNormaliser, type Volatile } from './normalise.ts'
import { readableLines } from './readable.ts'
import { requestDrift } from './requests.ts'
import type { Scratch } from './scratch.ts'
import type { Transcript } from './transcript.ts'
import { compareTrees, readTree } from './tree.ts'
import { unifiedDiff } from './unified-diff.ts'

/** One thing that came out otherwise than recorded. */
export interface Finding {
  readonly kind: 'run' | 'request' | 'header' | 'log' | 'tree' | 'stderr'
  /** One line. */
  readonly title: string
  /** The diff. */
  readonly detail: string
}

export interface Outcome {
  readonly name: string
  readonly durationMs: number
  readonly findings: readonly Finding[]
  readonly events: number
  /** Why it was not run. */
  readonly skipped?: string
  readonly driven: Driven
}

/** The outcome of a fixture that this machine cannot run. */
export function skippedOutcome(fixture: Fixture, reason: string): Outcome {
  const driven = { primary: undefined, children: [], stderr: '', problem: undefined }
  return { name: fixture.name, durationMs: 0, findings: [], events: 0, skipped: reason, driven }
}

/** Runs a fixture in its scratch copy and holds the result against the recording. */
export async function replayFixture(fixture: Fixture, scratch: Scratch, options: DriveOptions): Promise<Outcome> {
  const started = performance.now()
  const driven = await drive(fixture, scratch, options)
  const comparable = options.permissionMode === undefined && !options.live
  const found = [
    ...runFindings(driven),
    ...(comparable ? await logFindings(fixture, scratch, driven) : []),
    ...(options.live ? [] : await treeFindings(fixture, scratch, driven)),
  ]
  const findings = [...startFindings(fixture, found), ...found]
  return {
    name: fixture.name,
    durationMs: Math.round(performance.now() - started),
    findings,
    events: driven.primary?.events.length ?? 0,
    driven,
  }
}

/** A log alone does not say what files there were: told where the run misses one that the recording has read. */
export function startFindings({ workspace }: Pick<Fixture, 'workspace'>, found: readonly Finding[]): Finding[] {
  const misses = found.some(({ kind, detail }) => kind === 'log' && /^\+.*\bnot found\b/m.test(detail))
  if (workspace !== undefined || !misses) return []
  const title = 'the session began without files: this recording has no workspace/ (a bare log takes --workspace DIR)'
  return [{ kind: 'run', title, detail: '' }]
}

function runFindings(driven: Driven): Finding[] {
  if (driven.problem !== undefined)
    return [{ kind: 'run', title: 'the session did not get to its end', detail: driven.problem }]
  if (driven.stderr === '') return []
  return [{ kind: 'stderr', title: 'something was printed on stderr', detail: driven.stderr.trimEnd() }]
}

/** What does not count in a comparison, on the side of the recording and on the side of the run. */
export function volatileOf(
  fixture: Fixture,
  scratch: Scratch | undefined,
  transcripts: readonly Transcript[],
): Volatile {
  return {
    cwd: scratch === undefined ? [] : [scratch.workspace],
    home: scratch === undefined ? [] : [scratch.home, scratch.root],
    sessionIds: transcripts.map((log) => log.header['id']).filter((id): id is string => typeof id === 'string'),
    rules: fixture.input.normalise ?? [],
  }
}

async function logFindings(fixture: Fixture, scratch: Scratch, driven: Driven): Promise<Finding[]> {
  const { primary } = driven
  if (primary === undefined) return [{ kind: 'log', title: 'no session log was written', detail: '' }]
  const recorded = [fixture.transcript, ...fixture.children.map((child) => child.transcript)]
  const now = [primary, ...driven.children]
  const findings: Finding[] = []
  for (let at = 0; at < Math.max(recorded.length, now.length); at++) {
    const file = at === 0 ? 'session.jsonl' : `session.${at}.jsonl`
    const [want, got] = [recorded[at], now[at]]
    if (want === undefined) findings.push({ kind: 'log', title: `a session more than recorded (${file})`, detail: '' })
    else if (got === undefined)
      findings.push({ kind: 'log', title: `the session of ${file} was never started`, detail: '' })
    else {
      const a = normalise(want, volatileOf(fixture, undefined, recorded))
      const b = normalise(got, volatileOf(fixture, scratch, now))
      findings.push(...compareLogs(file, a, b))
    }
  }
  return [...findings, ...(await headerFindings(fixture, scratch, primary))]
}

/** Both sides normalised. */
export function compareLogs(file: string, want: Transcript, got: Transcript): Finding[] {
  const diff = unifiedDiff(lines(want), lines(got), { from: `recorded ${file}`, to: `${file} now` })
  if (diff === '') return []
  const drift = requestDrift(want, got)
  const log: Finding = { kind: 'log', title: `${file} differs from the recording`, detail: diff }
  if (drift === undefined) return [log]
  const title = `request ${drift.request} (turn ${drift.turn}, step ${drift.step}) is not the one recorded`
  return [{ kind: 'request', title, detail: drift.text }, log]
}

function lines(transcript: Transcript): string {
  return `${readableLines(transcript).join('\n')}\n`
}

async function headerFindings(fixture: Fixture, scratch: Scratch, primary: Transcript): Promise<Finding[]> {
  const which = fixture.input.requests ?? 'all'
  if (fixture.dir === undefined || which === 'off') return []
  const read = (name: string) => readFile(path.join(fixture.dir as string, name), 'utf8').catch(() => undefined)
  const expected = { system: await read(pinFiles.system), tools: await read(pinFiles.tools) }
  return comparePins(expected, pinsOf(withTokens(fixture, scratch, primary), which)).map((detail) => ({
    kind: 'header',
    title: `what the model is told before the first message has changed`,
    detail,
  }))
}

/** The header's texts with the scratch directory as `{{cwd}}`; unlike `normalise` this keeps them. */
export function withTokens(fixture: Fixture, scratch: Scratch, transcript: Transcript): Transcript {
  const { replace } = textNormaliser(volatileOf(fixture, scratch, [transcript]))
  return {
    header: transcript.header,
    events: transcript.events.map((event) =>
      event.type === 'request/header' ? { ...event, data: JSON.parse(replace(JSON.stringify(event.data))) } : event,
    ),
  }
}

async function treeFindings(fixture: Fixture, scratch: Scratch, driven: Driven): Promise<Finding[]> {
  if (fixture.workspaceExpected === undefined || driven.problem !== undefined) return []
  const [want, got] = await Promise.all([readTree(fixture.workspaceExpected), readTree(scratch.workspace)])
  const { replace } = textNormaliser(volatileOf(fixture, scratch, []))
  return compareTrees(want, got, replace).map((change) => ({
    kind: 'tree',
    title: `the tree differs: ${change.path} (${change.what})`,
    detail: change.text,
  }))
}
