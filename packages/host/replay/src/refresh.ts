import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { JsonObject } from '@dsh/core'
import { diffArrays } from 'diff'
import type { Fixture, FixtureInput } from './fixture.ts'
import { type HeaderPins, pinFiles, pinsOf, toolsText } from './header-pins.ts'
import { machineRules } from './machine-output.ts'
import {
  headerTokens,
  type NormaliseRule,
  normalise,
  placeNormaliser,
  textNormaliser,
  type Volatile,
} from './normalise.ts'
import { healDeltas, mapStrings } from './placeholders.ts'
import { readableLines } from './readable.ts'
import { volatileOf, withTokens } from './replay.ts'
import type { Scratch } from './scratch.ts'
import { spillPatches } from './spill-placeholders.ts'
import { projectTranscript, type RecordedEvent, type Transcript } from './transcript.ts'
import { compareTrees, readTree, type Tree } from './tree.ts'

/**
 * A log as it goes into a fixture: the working directory is `{{cwd}}`, prompt and schemas are tokens (their texts
 * lie beside it), and what an earlier recording says the same way keeps that recording's ids and times.
 */
export function fixtureLog(log: Transcript, volatile: Volatile, before?: Transcript): string {
  const { replace, spans } = placeNormaliser(volatile)
  const projected: Transcript = {
    header: mapStrings(log.header, replace) as JsonObject,
    events: healDeltas(log.events, spans).map((event) => projectedEvent(event, replace)),
  }
  return projectTranscript(before === undefined ? projected : settled(projected, before, volatile))
}

function projectedEvent(event: RecordedEvent, replace: (text: string) => string): RecordedEvent {
  const data = mapStrings(event.data, replace) as JsonObject
  if (event.type !== 'request/header') return { ...event, time: 0, data }
  const entries = Object.entries(data['header'] as JsonObject)
  const header = Object.fromEntries(entries.map(([key, value]) => [key, headerTokens[key] ?? value]))
  return { ...event, time: 0, data: { ...data, header } }
}

/** Takes over from `before` every event that says the same, so that a refresh changes only what has changed. */
function settled(now: Transcript, before: Transcript, volatile: Volatile): Transcript {
  const a = normalise(before, { ...volatile, sessionIds: idOf(before) })
  const b = normalise(now, { ...volatile, sessionIds: idOf(now) })
  const keys = (log: Transcript) => log.events.map((event) => readableLines({ header: {}, events: [event] }).join('\n'))
  const events: RecordedEvent[] = []
  let old = 0
  let fresh = 0
  for (const part of diffArrays(keys(a), keys(b))) {
    const count = part.count ?? part.value.length
    for (let i = 0; i < count; i++) {
      if (part.removed) old++
      else if (part.added) events.push(now.events[fresh++] as RecordedEvent)
      else events.push(kept(before.events[old++] as RecordedEvent, now.events[fresh++] as RecordedEvent))
    }
  }
  const same = JSON.stringify(a.header) === JSON.stringify(b.header)
  return { header: same ? before.header : now.header, events }
}

/** The old event in the new log: everything that points at other events is the new one's. */
function kept(old: RecordedEvent, fresh: RecordedEvent): RecordedEvent {
  const pointers = ['shadowedRange', 'shadowedSeqs', 'messageSeqs', 'sourceEventSeq'].filter((key) => key in fresh.data)
  const data = { ...old.data, ...Object.fromEntries(pointers.map((key) => [key, fresh.data[key]])) } as JsonObject
  return { ...old, seq: fresh.seq, data, ...marks(fresh) }
}

function marks(event: RecordedEvent): Pick<RecordedEvent, 'sourceEventSeqs' | 'surfaceOp'> {
  return {
    ...(event.sourceEventSeqs === undefined ? {} : { sourceEventSeqs: event.sourceEventSeqs }),
    ...(event.surfaceOp === undefined ? {} : { surfaceOp: event.surfaceOp }),
  }
}

function idOf(log: Transcript): string[] {
  return typeof log.header['id'] === 'string' ? [log.header['id']] : []
}

const overrideFile = 'replay.override.json'

/** Rewrites the fixture from what a run left behind. Gives the names of the files that changed. */
export async function writeFixture(
  fixture: Fixture & { readonly dir: string },
  scratch: Scratch,
  logs: readonly Transcript[],
  options: { readonly live?: boolean } = {},
): Promise<string[]> {
  const changed: string[] = []
  const put = async (name: string, text: string, old: string | undefined) => {
    if (text === old) return
    await writeFile(path.join(fixture.dir, name), text)
    changed.push(name)
  }
  const volatile = volatileOf(fixture, scratch, logs)
  const recorded = [fixture.transcript, ...fixture.children.map((child) => child.transcript)]
  for (const [at, log] of logs.entries()) {
    const name = at === 0 ? 'session.jsonl' : `session.${at}.jsonl`
    const before = recorded[at]
    const text = fixtureLog(log, volatile, before)
    await put(name, text, await readIfThere(path.join(fixture.dir, name)))
  }
  for (let at = logs.length; at < recorded.length; at++) {
    await rm(path.join(fixture.dir, `session.${at}.jsonl`))
    changed.push(`session.${at}.jsonl`)
  }
  if (options.live && logs[0] !== undefined) {
    const patches = spillPatches(logs[0])
    const before = await readIfThere(path.join(fixture.dir, overrideFile))
    if (patches.length > 0) await put(overrideFile, `${JSON.stringify({ patches }, null, 1)}\n`, before)
    else if (before !== undefined) await rm(path.join(fixture.dir, overrideFile))
    const input = await readIfThere(path.join(fixture.dir, 'input.json'))
    if (input !== undefined) await put('input.json', withRules(input, machineRules(logs)), input)
  }
  const which = fixture.input.requests ?? 'all'
  if (which !== 'off' && logs[0] !== undefined) {
    const pins = pinsOf(withTokens(fixture, scratch, logs[0]), which)
    for (const [name, text] of pinTexts(pins, which))
      await put(name, text, await readIfThere(path.join(fixture.dir, name)))
  }
  if (await refreshTree(path.join(fixture.dir, 'workspace.expected'), scratch.workspace, fixture, scratch))
    changed.push('workspace.expected/')
  return changed
}

export function pinTexts(pins: HeaderPins, which: 'all' | 'called'): [string, string][] {
  const tools: [string, string] = [pinFiles.tools, toolsText(pins)]
  return which === 'all' ? [[pinFiles.system, pins.system], tools] : [tools]
}

async function refreshTree(target: string, from: string, fixture: Fixture, scratch: Scratch): Promise<boolean> {
  const got = await readTree(from)
  const { replace } = textNormaliser(volatileOf(fixture, scratch, []))
  if (compareTrees(await readTree(target), got, replace).length === 0) return false
  await rm(target, { recursive: true, force: true })
  await writeTree(target, got)
  return true
}

export async function writeTree(root: string, tree: Tree): Promise<void> {
  for (const [name, entry] of tree) {
    const file = path.join(root, name)
    await mkdir(path.dirname(file), { recursive: true })
    if (entry.kind === 'link') await symlink(entry.target, file)
    else {
      await writeFile(file, entry.bytes)
      await chmod(file, entry.executable ? 0o755 : 0o644)
    }
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(() => undefined)
}

/** The text of an `input.json` that also has these rules; as it is when it has them all. */
function withRules(text: string, rules: readonly NormaliseRule[]): string {
  const input = JSON.parse(text) as Pick<FixtureInput, 'normalise'>
  const has = input.normalise ?? []
  const missing = rules.filter(({ pattern }) => !has.some((rule) => rule.pattern === pattern))
  return missing.length === 0 ? text : `${JSON.stringify({ ...input, normalise: [...has, ...missing] }, null, 2)}\n`
}
