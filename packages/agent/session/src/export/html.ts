import { escapeHtml, prettyArguments } from './markdown.ts'
import { proseToHtml } from './prose.ts'
import type { Entry, ToolUse, Transcript } from './transcript.ts'

const style = `
:root{color-scheme:light dark;--line:#8884;--soft:#8882;--accent:#3b6fd4;--bad:#c0392b}
body{margin:0 auto;max-width:52rem;padding:2rem 1.25rem 4rem;font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem}
.facts{opacity:.7;font-size:.875rem;margin-bottom:2rem}
article{margin:1.25rem 0}
article>h2{font-size:.75rem;letter-spacing:.06em;text-transform:uppercase;opacity:.65;margin:0 0 .25rem}
.prompt{border-left:3px solid var(--accent);padding-left:1rem}
.note{font-size:.875rem;opacity:.75;font-style:italic}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;font-size:.875rem}
summary{cursor:pointer;padding:.35rem .7rem;overflow:hidden;text-overflow:ellipsis}
details>:not(summary){margin:.5rem .7rem}
pre{background:var(--soft);border-radius:6px;padding:.7rem;overflow-x:auto;white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace}
code{font-family:ui-monospace,monospace;font-size:.9em;background:var(--soft);border-radius:3px;padding:0 .2em}
pre code{background:none;padding:0}
.failed>summary{color:var(--bad)}
`

/** One file without scripts and without anything to load: it can be mailed, attached, opened from a disk. */
export function toHtml(transcript: Transcript): string {
  const { id, title, cwd, createdAt, models, turns, usage } = transcript
  const heading = escapeHtml(title ?? id)
  const facts = [
    id,
    cwd,
    new Date(createdAt).toISOString(),
    models.join(', '),
    `${turns} turn${turns === 1 ? '' : 's'}`,
    `${usage.inputTokens + (usage.cacheReadTokens ?? 0)} tokens in, ${usage.outputTokens} out`,
  ].filter((fact) => fact !== undefined && fact !== '')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${heading}</title><style>${style}</style></head><body>
<h1>${heading}</h1><div class="facts">${facts.map((fact) => escapeHtml(fact as string)).join(' · ')}</div>
${transcript.entries.map(entryHtml).join('\n')}
</body></html>
`
}

function entryHtml(entry: Entry): string {
  switch (entry.kind) {
    case 'prompt':
      return `<article class="prompt"><h2>Prompt</h2>${proseToHtml(entry.text)}</article>`
    case 'context':
      return `<details><summary>context from ${escapeHtml(entry.from)}</summary>${pre(entry.text)}</details>`
    case 'note':
      return `<p class="note">${escapeHtml(entry.text)}</p>`
    case 'answer': {
      const reasoning =
        entry.reasoning === '' ? '' : `<details><summary>reasoning</summary>${proseToHtml(entry.reasoning)}</details>`
      const text = entry.text === '' ? '' : proseToHtml(entry.text)
      const stopped = entry.interrupted ? '<p class="note">interrupted</p>' : ''
      const body = [reasoning, text, ...entry.tools.map(toolHtml), stopped].join('')
      return body === '' ? '' : `<article class="answer"><h2>Answer</h2>${body}</article>`
    }
  }
}

function toolHtml(use: ToolUse): string {
  const state = use.result === undefined ? ' · no result' : use.isError ? ' · failed' : ''
  const summary = `${use.name}${state} — ${glance(use.arguments)}`
  const result = use.result === undefined ? '' : pre(use.result)
  const failed = use.isError === true ? ' class="failed"' : ''
  return `<details${failed}><summary>${escapeHtml(summary)}</summary>${pre(prettyArguments(use.arguments))}${result}</details>`
}

/** The argument that tells most at a glance. */
export function glance(argumentsText: string): string {
  try {
    const args = JSON.parse(argumentsText) as Record<string, unknown>
    const telling = ['command', 'path', 'file_path', 'pattern', 'job_id'].map((key) => args[key])
    const text = telling.find((value) => typeof value === 'string') ?? JSON.stringify(args)
    return (text as string).replace(/\s+/g, ' ').slice(0, 120)
  } catch {
    return argumentsText.replace(/\s+/g, ' ').slice(0, 120)
  }
}

function pre(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`
}
