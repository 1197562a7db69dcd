import type { Component } from '@mariozechner/pi-tui'
import { fit } from '../cards/fit.ts'
import { todoLine } from '../cards/tool.ts'
import { seconds, type Transcript } from '../items.ts'
import { oneLine } from '../sanitize.ts'
import { type StatusFacts, statusLine } from '../status-line.ts'
import type { Theme } from '../theme.ts'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** What runs right now, in one line: elapsed time, rate, the tool at work. */
export function activityLine(t: Transcript, now: number, theme: Theme): string | undefined {
  if (!t.turnOpen) return undefined
  const frame = theme.accent(frames[Math.floor(now / 100) % frames.length] as string)
  const elapsed = t.turnStartedAt === undefined ? '' : seconds(Math.max(0, now - t.turnStartedAt))
  if (t.retry !== undefined) {
    const { text, until, advice } = t.retry
    const doing = until === undefined ? `${text}, waiting` : `${text} in ${seconds(Math.max(0, until - now))}`
    return `${frame} ${doing} ${theme.dim(`· esc cancels${advice === undefined ? '' : ` · ${advice}`}`)}`
  }
  const running = t.items.filter((item) => item.kind === 'tool' && item.state === 'running')
  const doing =
    running.length > 1
      ? `${running.length} tools`
      : running.length === 1 && running[0]?.kind === 'tool'
        ? `${running[0].name} ${seconds(Math.max(0, now - (running[0].startedAt ?? now)))}`
        : t.streamed > 0
          ? `answering, ${streamedTokens(t, now)}`
          : t.streamedSince === undefined
            ? 'waiting for the model'
            : 'thinking'
  return `${frame} ${doing} ${theme.dim(`· ${elapsed} · esc cancels`)}`
}

/** Tokens of the open step by their usual length, and the rate once there is something to divide. */
function streamedTokens(t: Transcript, now: number): string {
  const tokens = Math.round(t.streamed / 4)
  const since = t.streamedSince === undefined ? 0 : (now - t.streamedSince) / 1000
  return `about ${tokens} tokens${since < 2 ? '' : `, ${Math.round(tokens / since)} a second`}`
}

export interface RunningJob {
  readonly id: string
  readonly label: string
  /** Epoch milliseconds. */
  readonly startedAt: number
}

/** Above the editor: the todo list, queued prompts, the activity. Below it: the status line. */
export class ActivityPanel implements Component {
  private readonly read: () => Transcript
  private readonly jobs: () => readonly RunningJob[]
  private readonly theme: Theme
  constructor(read: () => Transcript, jobs: () => readonly RunningJob[], theme: Theme) {
    this.read = read
    this.jobs = jobs
    this.theme = theme
  }
  invalidate(): void {}
  render(width: number): string[] {
    const t = this.read()
    const lines: string[] = []
    for (const job of this.jobs().slice(0, 5)) {
      const elapsed = seconds(Math.max(0, Date.now() - job.startedAt))
      lines.push(this.theme.dim(`  ${job.id} running for ${elapsed}: ${oneLine(job.label, 80)}`))
    }
    const open = t.todos.filter((todo) => todo.status !== 'completed')
    if (open.length > 0) {
      lines.push(...open.slice(0, 6).map((todo) => `  ${todoLine(todo, this.theme)}`))
      if (open.length > 6) lines.push(this.theme.dim(`  … ${open.length - 6} more`))
    }
    for (const entry of t.queued) {
      const when = entry.target === 'next-step' ? 'with the next step' : 'queued'
      if (entry.text !== '') lines.push(this.theme.dim(`  ${when}: ${oneLine(entry.text, 120)}`))
    }
    const activity = activityLine(t, Date.now(), this.theme)
    if (activity !== undefined) lines.push(activity)
    return fit(lines, width)
  }
}

export class StatusBar implements Component {
  private readonly read: () => StatusFacts | undefined
  private readonly theme: Theme
  constructor(read: () => StatusFacts | undefined, theme: Theme) {
    this.read = read
    this.theme = theme
  }
  invalidate(): void {}
  render(width: number): string[] {
    const facts = this.read()
    return facts === undefined ? [] : [statusLine(facts, width, this.theme)]
  }
}
