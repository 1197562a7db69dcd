import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { DshError, errorText } from '@dsh/core'
import * as z from 'zod'
import { inputOfLog } from './log-input.ts'
import { type ScriptEntry, scriptSchema } from './replies.ts'
import { type Step, stepsSchema } from './steps.ts'
import { parseTranscript, type Transcript } from './transcript.ts'

const inputSchema = z.strictObject({
  /** One line on what the scenario shows. */
  proves: z.string().optional(),
  /** True when a person wrote the model's words. */
  scripted: z.boolean().optional(),
  steps: stepsSchema.optional(),
  /** Answers to approval requests, first to last; one too few is answered `cancelled`. */
  permissionAnswers: z.array(z.object({ kind: z.string() })).optional(),
  permissionMode: z.enum(['read-only', 'workspace-write', 'danger-full-access']).optional(),
  /** Which parts of the request header are held against `system-prompt.expected.md` and `tool-schemas.expected.json`. */
  requests: z.enum(['all', 'called', 'off']).optional(),
  normalise: z.array(z.strictObject({ pattern: z.string(), replace: z.string() })).optional(),
  /** What has to be there for the scenario to mean anything (`bubblewrap`, `root`, …). */
  needs: z.array(z.string()).optional(),
  timeoutMs: z.int().positive().optional(),
})
export type FixtureInput = z.infer<typeof inputSchema>

/** A recorded session and what belongs to it. */
export interface Fixture {
  readonly name: string
  /** The fixture directory; undefined for a bare log. */
  readonly dir: string | undefined
  /** The primary log. */
  readonly file: string
  readonly transcript: Transcript
  readonly children: readonly { readonly file: string; readonly transcript: Transcript }[]
  readonly input: FixtureInput
  readonly steps: readonly Step[]
  readonly override: string | undefined
  /** Words that a person wrote; they take the place of the log's. */
  readonly script: readonly ScriptEntry[] | undefined
  readonly patch: string | undefined
  /** The files the session starts with; undefined = an empty directory. */
  readonly workspace: string | undefined
  /** The files it has to end with; undefined = the tree is not compared. */
  readonly workspaceExpected: string | undefined
}

/** A directory of the session store holds either. */
const logNames = ['session.jsonl', 'session.jsonl.zstd'] as const

/** Reads a fixture directory or a bare log. */
export async function readFixture(target: string, options: { readonly workspace?: string } = {}): Promise<Fixture> {
  const info = await stat(target).catch(() => undefined)
  if (info === undefined) throw usage(`no such fixture or log: ${target}`)
  if (!info.isDirectory()) return bareLog(target, options.workspace)
  const dir = path.resolve(target)
  const names = new Set(await readdir(dir))
  const log = logNames.find((name) => names.has(name))
  if (log === undefined && !names.has('script.json'))
    throw usage(`${target} is no fixture: it has neither session.jsonl nor script.json`)
  const file = path.join(dir, log ?? logNames[0])
  const there = (name: string) => (names.has(name) ? path.join(dir, name) : undefined)
  const transcript = log !== undefined ? await readLog(file) : { header: {}, events: [] }
  const input = (await readJson(there('input.json'), inputSchema)) ?? answersOf(transcript)
  return {
    name: path.basename(dir),
    dir,
    file,
    transcript,
    children: await Promise.all(
      childNames(dir, names).map(async (name) => ({
        file: path.join(dir, name),
        transcript: await readLog(path.join(dir, name)),
      })),
    ),
    input,
    steps: input.steps ?? inputOfLog(transcript).steps,
    override: there('replay.override.json'),
    script: await readJson(there('script.json'), scriptSchema),
    patch: there('patch.yml'),
    workspace: options.workspace ?? there('workspace'),
    workspaceExpected: there('workspace.expected'),
  }
}

async function bareLog(target: string, workspace: string | undefined): Promise<Fixture> {
  const file = path.resolve(target)
  const transcript = await readLog(file)
  return {
    name: path.basename(path.dirname(file)),
    dir: undefined,
    file,
    transcript,
    children: [],
    input: answersOf(transcript),
    steps: inputOfLog(transcript).steps,
    override: undefined,
    script: undefined,
    patch: undefined,
    workspace,
    workspaceExpected: undefined,
  }
}

/** Where no `input.json` says how approvals were answered, the log does. */
function answersOf(transcript: Transcript): FixtureInput {
  const { permissionAnswers } = inputOfLog(transcript)
  return permissionAnswers.length === 0 ? {} : { permissionAnswers: [...permissionAnswers] }
}

async function readLog(file: string): Promise<Transcript> {
  try {
    const bytes = await readFile(file)
    return parseTranscript((file.endsWith('.zstd') ? await decompress(bytes) : bytes).toString('utf8'))
  } catch (error) {
    throw usage(`${file}: ${errorText(error)}`)
  }
}

async function decompress(bytes: Buffer): Promise<Buffer> {
  const { decompressLog } = await import('@dsh/session-persistence-jsonl')
  return (await decompressLog(bytes)).text
}

async function readJson<T>(file: string | undefined, schema: z.ZodType<T>): Promise<T | undefined> {
  if (file === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw usage(`${file}: ${errorText(error)}`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw usage(`${file}: ${issue?.path.join('.') || 'the whole'}: ${issue?.message}`)
}

/** `session.1.jsonl`, `session.2.jsonl`, …: numbered without a gap. */
function childNames(dir: string, names: ReadonlySet<string>): string[] {
  const children = [...names].filter((name) => /^session\..+\.jsonl$/.test(name))
  const numbered = children.filter((name) => /^session\.[1-9]\d*\.jsonl$/.test(name))
  const stray = children.find((name) => !numbered.includes(name))
  if (stray !== undefined) throw usage(`invalid child session fixture name: ${path.join(dir, stray)}`)
  return numbered
    .sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]))
    .map((name, index) => {
      if (name === `session.${index + 1}.jsonl`) return name
      throw usage(`child session fixtures must be contiguous: expected session.${index + 1}.jsonl, found ${name}`)
    })
}

export function usage(message: string): DshError {
  return new DshError('REPLAY_USAGE', message)
}
