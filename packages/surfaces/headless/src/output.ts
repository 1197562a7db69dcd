import type { Session, SessionEvent, SessionEventMap } from '@dsh/session'
import type { OutputFormat } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { ResultDocument } from './result-document.ts'

/** Where a run writes; stdout carries only what its format promises. */
export interface Streams {
  out(text: string): void
  err(text: string): void
  /** Resolves when everything written so far has left the process. */
  flushed(): Promise<void>
}

export interface Output {
  started(session: Session, model: { readonly provider: string; readonly model: string }): void
  event(session: Session, event: SessionEvent): void
  /** `interrupted`: a signal ends the program; stdout gets its document still, but no half answer. */
  finished(outcome: Outcome, document: ResultDocument, interrupted: boolean): void
}

export function createOutput(format: OutputFormat, { out, err }: Streams): Output {
  const line = (value: unknown) => out(`${JSON.stringify(value)}\n`)
  switch (format) {
    case 'text':
      return {
        started() {},
        event(_session, event) {
          if (event.type === 'llm/retry' && event.data.delayMs >= patienceMs) err(retryLine(event.data))
        },
        finished({ answer, error }, _document, interrupted) {
          if (!interrupted) out(`${answer ?? ''}\n`)
          if (error !== undefined) err(`dsh: ${error.code}: ${error.message}\n`)
        },
      }
    case 'json':
      return { started() {}, event() {}, finished: (_outcome, document) => line(document) }
    case 'stream-json':
      return {
        started: (session, model) => line({ type: 'init', session_id: session.id, cwd: session.cwd, ...model }),
        event: (session, event) => line({ type: 'session_event', sessionId: session.id, event }),
        finished: (_outcome, document) => line(document),
      }
  }
}

/** A person who waits longer than this wants to know what for. */
const patienceMs = 2000

function retryLine({ failure, delayMs, retry, maxRetries }: SessionEventMap['llm/retry']): string {
  const times = maxRetries === undefined ? `retry ${retry}` : `retry ${retry} of ${maxRetries}`
  return `dsh: ${failure.code}: ${failure.message}; asking again in ${Math.round(delayMs / 1000)} s (${times})\n`
}

/** The process' own streams. A reader that went away (`| head -1`) ends the writing, not the run. */
export function processStreams(): Streams {
  const ignore = () => {}
  process.stdout.on('error', ignore)
  process.stderr.on('error', ignore)
  const drained = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      if (stream.destroyed || stream.writableLength === 0) resolve()
      else stream.write('', () => resolve())
    })
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    async flushed() {
      await Promise.all([drained(process.stdout), drained(process.stderr)])
    },
  }
}
