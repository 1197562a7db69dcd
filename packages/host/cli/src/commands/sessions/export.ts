import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeScrub, scrubJson, type Transcript, toHtml, toMarkdown, transcriptOf } from '@dsh/session/export'
import { readLog, requiredLog } from '@dsh/session-persistence-jsonl'
import { UsageError } from '../../argv.ts'
import { resolveHome } from '../../home.ts'
import { pickId } from './pick.ts'
import { oneId, parseWords, printJson, sessionsRoot } from './words.ts'

const formats = ['md', 'html', 'jsonl'] as const
type Format = (typeof formats)[number]

export async function exportSession(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {
    format: { type: 'string' },
    md: { type: 'boolean' },
    html: { type: 'boolean' },
    jsonl: { type: 'boolean' },
    output: { type: 'string', short: 'o' },
    scrub: { type: 'boolean' },
    'no-scrub': { type: 'boolean' },
    fixture: { type: 'string' },
    workspace: { type: 'string' },
  })
  const format = formatOf(values)
  const root = sessionsRoot()
  const id = await pickId(root, oneId('export', positionals))
  const log = await readLog({ root, path: requiredLog(root, id), id })
  if (values.fixture !== undefined) {
    const { exportFixture } = await import('./fixture.ts')
    const scrub = values['no-scrub'] ? undefined : makeScrub(process.env, storedSecrets())
    const clean = (row: unknown) => (scrub === undefined ? row : scrubJson(row, scrub))
    const written = await exportFixture({ header: clean(log.header), events: log.events.map(clean) }, values)
    if (values.json) printJson({ id, scrubbed: scrub !== undefined, ...written })
    else process.stdout.write(`written to ${written.fixture}\n`)
    for (const doubt of written.doubts)
      process.stderr.write(
        `dsh: ${doubt}; when, a log does not say: complete that step of input.json (docs/replay.md)\n`,
      )
    if (!written.workspace)
      process.stderr.write('dsh: no files went along; if the session read any, give the directory: --workspace DIR\n')
    return 0
  }
  const scrubs = values['no-scrub'] ? false : (values.scrub ?? format !== 'jsonl')
  const scrub = scrubs ? makeScrub(process.env, storedSecrets()) : undefined

  let text: string
  if (format === 'jsonl') {
    const rows = [log.header, ...log.events].map((row) => (scrub === undefined ? row : scrubJson(row, scrub)))
    text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  } else {
    const transcript = transcriptOf(log.header, log.events)
    const clean = scrub === undefined ? transcript : (scrubJson(homeless(transcript), scrub) as Transcript)
    text = format === 'html' ? toHtml(clean) : toMarkdown(clean)
  }
  if (values.output === undefined && values.json) printJson({ id, format, scrubbed: scrubs, text })
  else if (values.output === undefined) process.stdout.write(text)
  else {
    writeFileSync(values.output, text, { mode: 0o600 })
    if (values.json) printJson({ id, format, scrubbed: scrubs, output: values.output, bytes: Buffer.byteLength(text) })
  }
  return 0
}

function formatOf(values: Partial<Record<Format, boolean>> & { readonly format?: string }): Format {
  const asked = [...formats.filter((format) => values[format]), ...(values.format === undefined ? [] : [values.format])]
  if (new Set(asked).size > 1) throw new UsageError(`error: one format at a time, got ${asked.join(', ')}`)
  const format = asked[0] ?? 'md'
  if (!(formats as readonly string[]).includes(format))
    throw new UsageError(`error: --format is one of ${formats.join(', ')}, got "${format}"`)
  return format as Format
}

/** Paths below the home directory say who somebody is. */
function homeless(transcript: Transcript): Transcript {
  const home = homedir()
  if (home.length < 2) return transcript
  const boundary = new RegExp(`${home.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![A-Za-z0-9_-])`, 'g')
  return scrubJson(transcript, (text) => text.replace(boundary, '~')) as Transcript
}

/** What the credentials file holds, so that no export can show it. */
function storedSecrets(): string[] {
  try {
    const text = readFileSync(join(resolveHome(), '.credentials.yaml'), 'utf8')
    return text.split(/[\s:'"]+/).filter((word) => word.length >= 12)
  } catch {
    return []
  }
}
