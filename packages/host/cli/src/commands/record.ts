import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { errorText } from '@dsh/core'
import {
  claimDirectory,
  drive,
  emptyFixture,
  type FixtureInput,
  makeScratch,
  modelEnv,
  narrator,
  recordableTree,
  useCredentials,
  writeFixture,
  writeTree,
} from '@dsh/replay'
import { UsageError } from '../argv.ts'
import { openHome } from '../home.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh record "task" [--then "task"]... --to <dir> [options]

Runs a task against the real model, in a scratch copy of this directory, and writes what happened as a fixture that
"dsh replay" plays without a key: the log, the files before and after, what the model was told. The copy holds what
git tracks or would track; without git everything but node_modules. Your own layers are not used, your key is.

  --to <dir>               the fixture's directory; it has to be empty or absent
  --then <task>            a further prompt of the same session (repeatable)
  --proves <line>          what the fixture shows
  --patch <file>           recompose the session; kept in the fixture
  --permission-mode <m>    read-only | workspace-write (default) | danger-full-access
  --requests <which>       all (default) | called | off: which model-visible texts a replay compares
  --max-mb <n>             the largest workspace to keep (default 20)
  -h, --help               this text

Exit: 0 recorded, 1 the session failed and nothing was kept, 2 usage.
`

const permissionModes = ['read-only', 'workspace-write', 'danger-full-access'] as const
const pins = ['all', 'called', 'off'] as const

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {
    to: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: a flag's name
    then: { type: 'string', multiple: true },
    proves: { type: 'string' },
    patch: { type: 'string' },
    'permission-mode': { type: 'string' },
    requests: { type: 'string' },
    'max-mb': { type: 'string' },
  })
  if (values['help'] === true) {
    process.stdout.write(usage)
    return 0
  }
  const task = positionals.join(' ').trim()
  if (task === '') throw new UsageError('error: record needs a task (dsh record --help)')
  if (typeof values['to'] !== 'string') throw new UsageError('error: record needs --to <dir>')
  const mode = oneOf('--permission-mode', permissionModes, values['permission-mode'])
  const requests = oneOf('--requests', pins, values['requests'])
  const more = (values['then'] ?? []) as string[]
  const input: FixtureInput = {
    ...(typeof values['proves'] === 'string' ? { proves: values['proves'] } : {}),
    scripted: false,
    ...(requests === undefined ? {} : { requests }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    steps: [task, ...more].map((text) => ({ op: 'prompt' as const, text })),
  }
  return await record(path.resolve(values['to']), input, {
    patch: typeof values['patch'] === 'string' ? await patchText(values['patch']) : undefined,
    maxBytes: Number(values['max-mb'] ?? 20) * 1_000_000,
  })
}

async function record(
  dir: string,
  input: FixtureInput,
  options: { readonly patch: string | undefined; readonly maxBytes: number },
): Promise<number> {
  const before = await recordableTree(process.cwd(), options.maxBytes)
  await claimDirectory(dir)
  await writeTree(path.join(dir, 'workspace'), before)
  const fixture = await emptyFixture(dir, input, options.patch)
  const scratch = await makeScratch(fixture.workspace === undefined ? {} : { workspace: fixture.workspace })
  try {
    await useCredentials(scratch, openHome())
    const tell = narrator((text) => process.stdout.write(text), process.stdout.isTTY === true)
    const driven = await drive(fixture, scratch, {
      command: [process.execPath, process.argv[1] as string],
      live: true,
      env: modelEnv(process.env),
      onEvent: (event) => tell.event(event),
    })
    const failure = driven.problem ?? failedTurn(driven.primary)
    if (driven.primary === undefined || failure !== undefined) {
      await rm(dir, { recursive: true, force: true })
      process.stderr.write(`dsh: nothing was recorded: ${failure ?? 'no session log was written'}\n`)
      return 1
    }
    await writeFixture(fixture, scratch, [driven.primary, ...driven.children], { live: true })
    process.stdout.write(
      `\nrecorded ${path.relative(process.cwd(), dir)}; play it with: dsh replay ${path.relative(process.cwd(), dir)}\n`,
    )
    return 0
  } finally {
    await scratch.remove()
  }
}

/** A turn that a failing provider ended is nothing to keep. */
function failedTurn(log: Awaited<ReturnType<typeof drive>>['primary']): string | undefined {
  const end = log?.events.findLast((event) => event.type === 'turn/end')
  const reason = end?.data['reason'] as { kind: string; error?: { code: string; message: string } } | undefined
  return reason?.kind === 'error' ? `${reason.error?.code}: ${reason.error?.message}` : undefined
}

async function patchText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`error: ${errorText(error)}`)
  }
}

function oneOf<T extends string>(flag: string, known: readonly T[], given: unknown): T | undefined {
  if (given === undefined || (known as readonly unknown[]).includes(given)) return given as T | undefined
  throw new UsageError(`error: ${flag} is one of ${known.join(', ')}, got "${String(given)}"`)
}
