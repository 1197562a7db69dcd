import type { ContentBlock } from '@dsh/llm'
import type { SessionEvent } from '@dsh/session'

export interface Narrator {
  event(event: SessionEvent): void
}

const shownLines = 12

/** Tells a session as it goes: what the person asks, what the model says and calls, what comes back. */
export function narrator(write: (text: string) => void, colour: boolean): Narrator {
  const dim = (text: string) => (colour ? `\u001b[2m${text}\u001b[22m` : text)
  const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[22m` : text)
  let saying = false
  const endOfSpeech = () => {
    if (saying) write('\n')
    saying = false
  }
  return { event }

  function event(now: SessionEvent): void {
    switch (now.type) {
      case 'user/message':
        if (now.data.source.kind === 'user') write(`\n${bold(`> ${textOf(now.data.content)}`)}\n`)
        return
      case 'assistant/chunk': {
        const chunk = now.data.chunk
        if (chunk.type !== 'text-delta') return
        if (!saying) write('\n')
        saying = true
        write(chunk.text)
        return
      }
      case 'assistant/message':
        endOfSpeech()
        return
      case 'tool/call':
        endOfSpeech()
        write(`\n${bold(callLine(now.data.name, now.data.arguments))}\n`)
        return
      case 'tool/result':
        write(`${dim(resultLines(now.data.message.content))}\n`)
        return
      case 'llm/retry':
        write(dim(`  ${now.data.failure.code}: asked again in ${now.data.delayMs} ms\n`))
        return
      case 'turn/end':
        endOfSpeech()
        if (now.data.reason.kind !== 'completed') write(dim(`  turn ended: ${now.data.reason.kind}\n`))
        return
      default:
    }
  }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')
}

/** `$ npm test` for a command, `edit src/a.js` for a file, else the name and its arguments. */
function callLine(name: string, raw: string): string {
  let args: Record<string, unknown> = {}
  try {
    args = JSON.parse(raw === '' ? '{}' : raw)
  } catch {
    return `${name} ${raw}`
  }
  if (typeof args['command'] === 'string') return `$ ${args['command']}`
  const subject = args['file_path'] ?? args['path'] ?? args['pattern']
  return typeof subject === 'string' ? `${name} ${subject}` : `${name} ${JSON.stringify(args)}`
}

function resultLines(content: readonly ContentBlock[]): string {
  const text = content.map((block) => (block.type === 'tool-result' ? textOf(block.content) : '')).join('')
  const lines = text.replace(/\n$/, '').split('\n')
  const shown =
    lines.length <= shownLines
      ? lines
      : [...lines.slice(0, shownLines - 1), `… ${lines.length - shownLines + 1} more lines`]
  return shown.map((line) => `  ${line}`).join('\n')
}
