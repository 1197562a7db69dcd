import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { errorText } from '@dsh/core'
import {
  type DriveOptions,
  type Finding,
  type Fixture,
  makeScratch,
  modelEnv,
  narrator,
  type Outcome,
  outcomeText,
  readFixture,
  replayFixture,
  reportJson,
  reportJunit,
  type Summary,
  skippedOutcome,
  summaryOf,
  type UnmetNeeds,
  unmetNeeds,
  useCredentials,
  writeFixture,
} from '@dsh/replay'
import { UsageError } from '../argv.ts'
import { openHome } from '../home.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh replay <fixture directory or log>... [options]

Plays recorded sessions without a key, each in a scratch copy of its workspace, and holds the new log, the
requests and the resulting files against the recording. What the model says is recorded; all else happens.

  --mode <mode>            replay (default) | record: ask the real model | refresh: rewrite what has changed
  --update                 the same as --mode refresh
  --workspace <dir>        the files that a bare log starts with
  --patch <file>           recompose the run (repeatable)
  --permission-mode <m>    run in another mode than recorded; then only the files are compared
  --pace <ms>              pause between the pieces of what the model says
  --jobs <n>               sessions at the same time (default: up to 5)
  --json                   one JSON document on stdout
  --junit <file>           a JUnit report beside the output
  --full                   do not shorten diffs
  --quiet                  one line per fixture, also for a single one
  --scratch <dir>          run a single fixture in this directory and leave it there
  -h, --help               this text

Exit: 0 everything as recorded, 1 something differs, 2 usage.
`

/** This program. */
const self = [process.execPath, process.argv[1] as string]

const modes = ['replay', 'record', 'refresh'] as const
type Mode = (typeof modes)[number]

const flags = {
  mode: { type: 'string' },
  update: { type: 'boolean' },
  workspace: { type: 'string' },
  patch: { type: 'string', multiple: true },
  'permission-mode': { type: 'string' },
  pace: { type: 'string' },
  jobs: { type: 'string' },
  json: { type: 'boolean' },
  junit: { type: 'string' },
  full: { type: 'boolean' },
  quiet: { type: 'boolean' },
  scratch: { type: 'string' },
} as const

interface Options {
  readonly mode: Mode
  readonly workspace: string | undefined
  readonly patches: readonly string[]
  readonly permissionMode: string | undefined
  readonly paceMs: number | undefined
  readonly jobs: number
  readonly json: boolean
  readonly junit: string | undefined
  readonly maxLines: number
  readonly quiet: boolean
  readonly scratch: string | undefined
}

export async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(args)
  if (parsed === undefined) {
    process.stdout.write(usage)
    return 0
  }
  const { targets, options } = parsed
  const fixtures = await readAll(targets, options)
  const started = performance.now()
  const lacking = await unmetNeeds(fixtures, self)
  const narrated = fixtures.length === 1 && !options.json && !options.quiet
  const outcomes = await pool(fixtures, options.jobs, async (fixture) => {
    const outcome = await one(fixture, options, narrated, lacking)
    if (!options.json) process.stdout.write(`${narrated ? '\n' : ''}${outcomeText(outcome, options.maxLines)}\n`)
    return outcome
  })
  const summary = summaryOf(outcomes, Math.round(performance.now() - started))
  if (options.junit !== undefined) await writeReport(options.junit, reportJunit(outcomes, summary))
  if (options.json) process.stdout.write(reportJson(outcomes, summary))
  else if (fixtures.length > 1) process.stdout.write(`${counts(summary)}, ${summary.durationMs} ms\n`)
  return summary.failed === 0 ? 0 : 1
}

function counts(summary: Summary): string {
  const skipped = summary.skipped === 0 ? '' : `, ${summary.skipped} skipped`
  return `${summary.passed} as recorded, ${summary.failed} different${skipped}`
}

function parse(args: readonly string[]): { targets: string[]; options: Options } | undefined {
  const { values, positionals } = parseWords(args, flags)
  if (values['help'] === true) return undefined
  const text = (flag: string) => values[flag] as string | undefined
  if (positionals.length === 0)
    throw new UsageError('error: replay needs a fixture directory or a log (dsh replay --help)')
  const mode = values['update'] === true ? 'refresh' : (text('mode') ?? (process.env['DSH_SNAPSHOT'] || 'replay'))
  if (!isMode(mode)) throw new UsageError(`error: --mode is one of ${modes.join(', ')}, got "${mode}"`)
  if (text('scratch') !== undefined && positionals.length > 1)
    throw new UsageError('error: --scratch goes with a single fixture')
  const byDefault = process.env['DSH_SNAPSHOT_MAX_CONCURRENCY'] ?? String(Math.min(5, os.availableParallelism()))
  const pace = text('pace')
  return {
    targets: positionals,
    options: {
      mode,
      workspace: text('workspace'),
      patches: ((values['patch'] ?? []) as string[]).map((file) => path.resolve(file)),
      permissionMode: text('permission-mode'),
      paceMs: pace === undefined ? undefined : wholeNumber('--pace', pace, 0),
      // A run that writes fixtures writes one at a time.
      jobs: mode === 'replay' ? wholeNumber('--jobs', text('jobs') ?? byDefault, 1) : 1,
      json: values['json'] === true,
      junit: text('junit'),
      maxLines: values['full'] === true ? Number.POSITIVE_INFINITY : 80,
      quiet: values['quiet'] === true,
      scratch: text('scratch'),
    },
  }
}

function isMode(mode: string): mode is Mode {
  return (modes as readonly string[]).includes(mode)
}

function wholeNumber(flag: string, text: string, least: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least)
    throw new UsageError(`error: ${flag} takes a whole number from ${least}, got "${text}"`)
  return value
}

async function readAll(targets: readonly string[], options: Options): Promise<Fixture[]> {
  const given = options.workspace === undefined ? {} : { workspace: path.resolve(options.workspace) }
  try {
    return await Promise.all(targets.map((target) => readFixture(target, given)))
  } catch (error) {
    throw new UsageError(`error: ${errorText(error)}`)
  }
}

async function one(fixture: Fixture, options: Options, narrated: boolean, lacking: UnmetNeeds): Promise<Outcome> {
  const lacks = options.permissionMode === 'danger-full-access' ? [] : lacking(fixture)
  if (lacks.length > 0) return skippedOutcome(fixture, `needs ${lacks.join(', ')}`)
  if (options.mode === 'record' && fixture.input.scripted === true)
    return skippedOutcome(fixture, 'scripted: a person wrote what the model says')
  const scratch = await makeScratch({
    ...(fixture.workspace === undefined ? {} : { workspace: fixture.workspace }),
    ...(options.scratch === undefined ? {} : { at: await made(options.scratch) }),
  })
  try {
    if (options.mode === 'record') await useCredentials(scratch, openHome())
    const outcome = await replayFixture(fixture, scratch, driveOptions(options, narrated))
    if (options.mode === 'replay') return outcome
    return { ...outcome, findings: await rewrite(fixture, scratch, outcome, options.mode === 'record') }
  } finally {
    if (options.scratch === undefined) await scratch.remove()
  }
}

function driveOptions(options: Options, narrated: boolean): DriveOptions {
  const tell = narrated ? narrator((text) => process.stdout.write(text), process.stdout.isTTY === true) : undefined
  return {
    command: self,
    patches: options.patches,
    live: options.mode === 'record',
    ...(options.mode === 'record' ? { env: modelEnv(process.env) } : {}),
    ...(options.paceMs === undefined ? {} : { paceMs: options.paceMs }),
    ...(options.permissionMode === undefined ? {} : { permissionMode: options.permissionMode }),
    ...(tell === undefined ? {} : { onEvent: (event) => tell.event(event) }),
  }
}

/** Writes the fixture anew. A session that did not get to its end changes nothing. */
async function rewrite(
  fixture: Fixture,
  scratch: Awaited<ReturnType<typeof makeScratch>>,
  outcome: Outcome,
  live: boolean,
): Promise<Finding[]> {
  const { primary, children } = outcome.driven
  const failed = outcome.findings.filter((finding) => finding.kind === 'run')
  if (fixture.dir === undefined)
    return [{ kind: 'run', title: 'only a fixture directory can be rewritten, this is a bare log', detail: '' }]
  if (failed.length > 0 || primary === undefined) return failed
  const changed = await writeFixture({ ...fixture, dir: fixture.dir }, scratch, [primary, ...children], { live })
  const said = changed.length === 0 ? `${fixture.name}: unchanged` : `${fixture.name}: wrote ${changed.join(', ')}`
  process.stderr.write(`${said}\n`)
  return []
}

async function made(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true })
  return dir
}

async function writeReport(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true })
  await writeFile(file, text)
}

/** Runs at most `width` at a time; results in the order of the items. */
async function pool<T, R>(items: readonly T[], width: number, job: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await job(items[at] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
  return results
}
