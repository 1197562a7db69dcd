import type { Entry, ToolUse, Transcript } from './transcript.ts'

/** A transcript as Markdown; tool results are folded away where a viewer knows `<details>`. */
export function toMarkdown(transcript: Transcript): string {
  const { id, title, cwd, createdAt, models, turns, usage } = transcript
  const facts = [
    `session \`${id}\``,
    ...(cwd === undefined ? [] : [`in \`${cwd}\``]),
    new Date(createdAt).toISOString(),
    ...(models.length === 0 ? [] : [models.join(', ')]),
    `${turns} turn${turns === 1 ? '' : 's'}`,
    `${usage.inputTokens + (usage.cacheReadTokens ?? 0)} tokens in, ${usage.outputTokens} out`,
  ]
  const parts = [`# ${oneLine(title ?? id)}`, facts.join(' · '), ...transcript.entries.map(entryText)]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function entryText(entry: Entry): string {
  switch (entry.kind) {
    case 'prompt':
      return `## Prompt\n\n${entry.text}`
    case 'context':
      return details(`context from ${entry.from}`, fence(entry.text))
    case 'note':
      return `> ${oneLine(entry.text)}`
    case 'answer': {
      const parts = [
        entry.reasoning === '' ? '' : details('reasoning', entry.reasoning),
        entry.text,
        ...entry.tools.map(toolText),
        entry.interrupted ? '> interrupted' : '',
      ].filter((part) => part !== '')
      return parts.length === 0 ? '' : `## Answer\n\n${parts.join('\n\n')}`
    }
  }
}

function toolText(use: ToolUse): string {
  const state = use.result === undefined ? ' (no result)' : use.isError ? ' (failed)' : ''
  const body = [fence(prettyArguments(use.arguments), 'json'), use.result === undefined ? '' : fence(use.result)]
  return details(`tool ${use.name}${state}`, body.filter((part) => part !== '').join('\n\n'))
}

export function prettyArguments(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

function details(summary: string, body: string): string {
  return `<details><summary>${escapeHtml(summary)}</summary>\n\n${body}\n\n</details>`
}

/** A fence longer than any in the text. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}${language}\n${text}\n${marks}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
