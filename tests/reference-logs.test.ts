import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  drive,
  makeScratch,
  normalise,
  type RecordedEvent,
  readFixture,
  type Transcript,
  unifiedDiff,
} from '@dsh/replay'
import { atTestEnd, tempWorkspace } from '@dsh/testkit'
import { describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const logs = path.join(process.env['DSH_SHARED'] ?? path.join(root, '../shared'), 'data/reference-logs')
const dsh = path.join(root, 'packages/host/cli/bin/dsh.js')

/** What the reference's composition does not log, or logs elsewhere: pins, titles, what is ours. */
function counts(event: RecordedEvent): boolean {
  if (event.ignorable) return false
  return !['permission/preset', 'sandbox/mode', 'approval/policy', 'session/title'].includes(event.type)
}

/** One line per event: what happened, without ids; deltas as they were cut. */
function skeleton(transcript: Transcript): string {
  return `${transcript.events.filter(counts).map(line).join('\n')}\n`
}

function line(event: RecordedEvent): string {
  const { data } = event as { data: any }
  const op = typeof event.surfaceOp === 'object' ? ' replaces' : ''
  switch (event.type) {
    case 'assistant/chunk':
      return `chunk ${data.turn}/${data.step} ${JSON.stringify(data.chunk)}`
    case 'user/message':
      return `user ${data.source.kind} ${data.source.plugin?.replace(/^@(deepseek-ai|dsh)\/(dsh-)?/, '') ?? ''}${op} ${text(data.content)}`
    case 'assistant/message':
      return `assistant ${data.turn}/${data.step}${data.interrupted ? ' interrupted' : ''} ${JSON.stringify(data.message.content)} ${JSON.stringify(data.usage)} from ${event.sourceEventSeqs?.length}`
    case 'tool/result':
      return `result ${data.message.source.callId} ${data.message.content[0].isError} ${JSON.stringify(data.error)} ${text(data.message.content[0].content)}`
    case 'agent/inbox/spliced':
      return `inbox ${data.target} +${data.inserted.length} -${data.removedCount ?? 0} ${data.outcome ?? ''}`
    case 'compaction/summary':
      return `summary ${JSON.stringify(data.summary)} ${data.llmStreamCall} ${JSON.stringify(data.usage)}`
    case 'request/header':
      return `header ${data.reason} ${JSON.stringify(data.header.config)} ${JSON.stringify(data.header.adapterDefaults)}`
    default:
      return `${event.type} ${JSON.stringify(data)}`
  }
}

function text(content: readonly { readonly text?: string }[]): string {
  return JSON.stringify(content.map((block) => block.text ?? '').join(''))
}

interface Case {
  readonly name: string
  /** The log, where it is not `session.jsonl`. */
  readonly log?: string
  readonly files?: Record<string, string>
  readonly permissionMode?: string
  /** Lines that differ, `-` theirs and `+` ours, with the reason. */
  readonly differences?: readonly { readonly why: string; readonly lines: readonly (string | RegExp)[] }[]
}

const cases: readonly Case[] = [
  { name: 'text-turn' },
  { name: 'multi-turn' },
  {
    name: 'packed-chunks',
    differences: [
      {
        why: 'a hook of the recording blocked bash; no hook row is composed here, so the command runs',
        lines: [
          /^-hook\/invoked .*"point":"PreToolUse"/,
          /^-hook\/result .*"decision":"block"/,
          /^-result .* true undefined "Error: bash is disabled by policy in this session"$/,
          /^\+result .* false undefined "HELLO\\n"$/,
        ],
      },
    ],
  },
  { name: 'parallel-tool-calls', files: { 'a.txt': 'alpha\n', 'b.txt': 'beta\n' } },
  { name: 'cancel' },
  { name: 'error-finish' },
  { name: 'empty-response-retry' },
  { name: 'escalation-approved', permissionMode: 'workspace-write' },
  { name: 'todo-write' },
  {
    name: 'snapshots_compaction-recovery',
    differences: [
      {
        why: 'the recording was made without the rows sandbox-policy and approval, which speak in the runtime context',
        lines: [/^\+user plugin system-prompt "Current runtime context\./],
      },
    ],
  },
  {
    name: 'snapshots_provider-retry',
    log: 'stream-json.expected.jsonl',
    differences: [
      {
        why: 'as above',
        lines: [/^\+user plugin system-prompt "Current runtime context\./],
      },
    ],
  },
  {
    name: 'snapshots_headless-profile',
    log: 'session.expected.jsonl',
    differences: [
      {
        why: 'no row here lets a model write titles',
        lines: [/^-session\/title-llm-request /],
      },
      {
        why: "a row of the recording's own switched the effort off for the second request",
        lines: [/^-header change .*"reasoningEffort":"off"/],
      },
    ],
  },
]

/** Recordings that need what is not composed here; their logs are read, folded and derived elsewhere. */
const notPlayed: Readonly<Record<string, string>> = {
  'semantic-checkpoint-snapshots_tool-outcome-unknown':
    'starts from a log that its test wrote; killed-in-a-call shows the same',
  'subagent-fork-in-process': 'no row here starts children',
  'subagent-parallel': 'no row here starts children',
}

/** A log of its own, or the events of a `stream-json` golden put back into one. */
async function logOf(entry: Case): Promise<string> {
  const dir = path.join(logs, entry.name)
  if (entry.log === undefined) return dir
  const rows = readFileSync(path.join(dir, entry.log), 'utf8')
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row))
  if (rows[0].type === 'session') return path.join(dir, entry.log)
  const header = {
    type: 'session',
    version: 0,
    id: rows[0].sessionId,
    createdAt: 0,
    cwd: '{{cwd}}',
    delegationDepth: 0,
  }
  const events = rows.flatMap((row) => (row.type === 'session_event' ? [row.event] : []))
  const place = await tempWorkspace({
    'session.jsonl': [header, ...events].map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  return place.path('session.jsonl')
}

describe.skipIf(!existsSync(logs))("the reference's recordings, played through our loop", () => {
  test('each of them is played, or it is said why not', () => {
    const names = readdirSync(logs, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    )
    expect([...cases.map((entry) => entry.name), ...Object.keys(notPlayed)].sort()).toEqual(names.sort())
  })

  test.for(cases)('$name', async (entry) => {
    const { files, permissionMode, differences = [] } = entry
    const workspace = await tempWorkspace(files)
    const fixture = await readFixture(await logOf(entry), { workspace: workspace.root })
    const scratch = await makeScratch({ workspace: workspace.root })
    atTestEnd(() => scratch.remove())
    const mode = permissionMode ?? 'danger-full-access'
    const driven = await drive(fixture, scratch, { command: [process.execPath, dsh], permissionMode: mode })
    expect(driven.problem).toBeUndefined()
    const theirs = normalise(fixture.transcript, { cwd: [] })
    const ours = normalise(driven.primary as Transcript, {
      cwd: [scratch.workspace],
      home: [scratch.home, scratch.root],
    })
    const diff = unifiedDiff(skeleton(theirs), skeleton(ours), { from: 'theirs', to: 'ours' }, 0)
    const changed = diff.split('\n').filter((row) => /^[-+](?![-+]{2} )/.test(row))
    const explained = differences.flatMap((difference) => difference.lines)
    expect(changed.filter((row, at) => !matches(row, explained[at]))).toEqual([])
    expect(changed).toHaveLength(explained.length)
  })
})

function matches(row: string, want: string | RegExp | undefined): boolean {
  return want !== undefined && (typeof want === 'string' ? row === want : want.test(row))
}
