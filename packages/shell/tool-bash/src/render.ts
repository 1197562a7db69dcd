import { deniedMarker, escalationHint } from '@dsh/sandbox'
import type { ShellOutcome } from '@dsh/shell'
import type { CollectedStream } from '@dsh/subprocess'

/** What the model reads: both streams, then one marker a line, the exit or signal marker last. */
export function renderOutcome(outcome: ShellOutcome, advertisesEscalation: boolean): string {
  const body = renderStreams(outcome.stdout, outcome.stderr)
  const markers = markersOf(outcome, advertisesEscalation)
  if (markers.length === 0) return body
  return `${body}${body.endsWith('\n') ? '' : '\n'}${markers.join('\n')}`
}

function renderStreams(stdout: CollectedStream, stderr: CollectedStream): string {
  const out = renderStream(stdout)
  const err = renderStream(stderr)
  if (out === '' && err === '') return '(no output)'
  if (err === '') return out
  return `${out}${out === '' || out.endsWith('\n') ? '' : '\n'}[stderr]\n${err}`
}

function renderStream(stream: CollectedStream): string {
  if (!stream.truncated) return stream.text
  return `${stream.text}\n[output truncated; full output: ${stream.spillPath ?? '(unavailable)'}]`
}

function markersOf(outcome: ShellOutcome, advertisesEscalation: boolean): string[] {
  const { sandbox, timedOut, timeoutMs, signal, exitCode } = outcome
  const markers: string[] = []
  if (sandbox?.denied) {
    markers.push(deniedMarker(sandbox.mode))
    if (advertisesEscalation) markers.push(escalationHint('command'))
  }
  if (timedOut) markers.push(`[timed out after ${timeoutMs}ms]`)
  if (signal !== null) markers.push(`[killed by signal: ${signal}]`)
  else if (exitCode !== 0 && exitCode !== null) markers.push(`[exit code: ${exitCode}]`)
  return markers
}
