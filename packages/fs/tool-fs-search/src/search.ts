import type { RunningProcess, SettledProcess, SubprocessService } from '@dsh/subprocess'
import type { Config } from './caps.ts'
import { searchError, searchErrors } from './errors.ts'
import { type Faults, sortFaults } from './faults.ts'
import { ripgrepPath } from './ripgrep.ts'

export interface SearchRequest {
  readonly tool: 'glob' | 'grep'
  /** After the program's name. */
  readonly argv: readonly string[]
  readonly cwd: string
  /** The path argument, as given. */
  readonly root: string | undefined
  readonly signal: AbortSignal
  /** Then the search is ended and what it found is taken. */
  readonly deadlineMs: number
}

export interface SearchOutput {
  readonly stdout: string
  readonly faults: Faults
  /** Ended by the deadline. */
  readonly unfinished: boolean
}

/** One run of ripgrep: no shell, no stdin, no configuration of the user's. */
export async function search(
  request: SearchRequest,
  processes: SubprocessService,
  config: Config,
): Promise<SearchOutput> {
  const { tool, signal } = request
  if (signal.aborted) throw aborted(tool)
  for (const word of request.argv) refuseUnspeakable(tool, word)
  let running: RunningProcess
  try {
    running = await processes.spawn({
      argv: [ripgrepPath(), '--no-config', ...request.argv],
      cwd: request.cwd,
      env: processes.baseEnv(),
      maxOutputBytes: Math.max(config.rawOutputMaxBytes, config.stderrMaxBytes),
      maxSpillBytes: 0,
      graceMs: config.graceMs,
      keep: 'head',
    })
  } catch (error) {
    throw searchError(searchErrors.failed, `${tool} could not start its search command (ripgrep launch failed)`, error)
  }
  const { settled, unfinished } = await settle(running, request)
  if (signal.aborted) throw aborted(tool)
  return judge(settled, unfinished, request, config)
}

/** Linux takes no single argument longer than 128 KiB, its end mark included. */
const longestArgument = 131_071

/** What no program can be given would fail as a search that could not start. */
function refuseUnspeakable(tool: string, word: string): void {
  if (word.includes('\0')) throw searchError(searchErrors.failed, `${tool} arguments cannot contain a NUL byte`)
  if (Buffer.byteLength(word) > longestArgument)
    throw searchError(searchErrors.failed, `${tool} takes no argument longer than ${longestArgument} bytes`)
}

async function settle(
  running: RunningProcess,
  request: SearchRequest,
): Promise<{ readonly settled: SettledProcess; readonly unfinished: boolean }> {
  let unfinished = false
  const stop = () => void running.terminate()
  const timer = setTimeout(() => {
    unfinished = true
    stop()
  }, request.deadlineMs)
  request.signal.addEventListener('abort', stop, { once: true })
  try {
    return { settled: await running.done, unfinished }
  } catch (error) {
    throw searchError(
      searchErrors.failed,
      `${request.tool} could not start its search command (ripgrep launch failed)`,
      error,
    )
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', stop)
  }
}

function judge(settled: SettledProcess, unfinished: boolean, request: SearchRequest, config: Config): SearchOutput {
  const { tool, root } = request
  const { stdout, stderr, exitCode, signal } = settled
  const faults = sortFaults(stderr.text, root, stderr.truncated)
  if (!unfinished) {
    if (exitCode === null)
      throw searchError(searchErrors.failed, `${tool} search command was killed by signal ${signal ?? '(unknown)'}`)
    if (exitCode > 1 && faults.fatal !== '') throw rejected(tool, exitCode, stderr)
  }
  if (stdout.truncated || stdout.bytes > config.rawOutputMaxBytes) throw overflow(tool, stdout, config)
  return { stdout: stdout.text, faults, unfinished }
}

function rejected(tool: string, exitCode: number, stderr: SettledProcess['stderr']): Error {
  const text = `${stderr.text.trim()}${stderr.truncated ? ' [stderr truncated]' : ''}`
  const said = stderr.text.toLowerCase()
  const aboutPattern = ['regex parse error', 'error parsing glob', 'is not allowed in a regex', 'exceeds size limit']
  if (aboutPattern.some((phrase) => said.includes(phrase)))
    return searchError(searchErrors.invalidPattern, `${tool} pattern rejected by ripgrep: ${text}`)
  return searchError(searchErrors.failed, `${tool} search failed (exit ${exitCode})${text === '' ? '' : `: ${text}`}`)
}

function overflow(tool: string, stdout: SettledProcess['stdout'], config: Config): Error {
  const cap = config.rawOutputMaxBytes
  const narrow = 'narrow pattern, path, or include and retry'
  return searchError(
    searchErrors.overflow,
    stdout.truncated
      ? `${tool} produced more raw output than the subprocess seam retained within the ${cap}-byte cap; ${narrow}`
      : `${tool} produced ${stdout.bytes} bytes of raw output, over the ${cap}-byte cap; ${narrow}`,
  )
}

function aborted(tool: string): Error {
  return searchError(
    searchErrors.aborted,
    `${tool} was aborted before completion (tool timeout or caller cancellation)`,
  )
}

export function unfinishedNote(deadlineMs: number): string {
  return `(search stopped after ${deadlineMs / 1000} s; there may be more results: narrow pattern or path)`
}
