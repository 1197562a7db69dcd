import type { JobOutcome, JobWork } from '@dsh/jobs-local'
import { deniedMarker, escalationHint, runnerFailedMarker } from '@dsh/sandbox'
import type { ShellJob, ShellOutcome, ShellRequest } from '@dsh/shell'
import type { ToolExecution } from '@dsh/tools'
import type { BashDeps } from './bash.ts'
import type { Variant } from './description.ts'
import type { BashValue } from './value.ts'

/** Hands the command to the job registry; it runs on when this call has returned. */
export async function startJob(
  deps: BashDeps,
  variant: Variant,
  request: ShellRequest,
  exec: ToolExecution,
): Promise<BashValue> {
  if (!deps.enableRunInBackground)
    throw new Error('run_in_background is disabled for this deployment (enableRunInBackground: false)')
  const jobs = deps.jobs()
  if (jobs === undefined) throw new Error('background jobs unavailable: load @dsh/jobs-local and @dsh/tool-jobs')
  const spec = await deps.shell.resolve(request)
  const job = await jobs.start({
    kind: 'bash',
    label: request.command,
    ...(exec.agent === undefined ? {} : { agent: exec.agent }),
    begin: async () => bashWork(await deps.shell.start(spec), variant.confined),
  })
  return { kind: 'background', jobId: job.id }
}

/** A running command as the job registry sees it. */
export function bashWork(job: ShellJob, advertisesEscalation: boolean): JobWork {
  let outcome: ShellOutcome | undefined
  const done = job.done.then((settled) => {
    outcome = settled
    return outcomeOf(settled)
  })
  return {
    done,
    cancel: () => job.kill(),
    read: () => {
      const delta = job.readOutput()
      const err = delta.stderr === '' ? '' : `[stderr]\n${delta.stderr}`
      const gap = delta.stdout === '' || err === '' || delta.stdout.endsWith('\n') ? '' : '\n'
      const dropped = delta.dropped
        ? [`[some output was dropped from memory; full output: ${delta.spillPaths.join(', ') || '(unavailable)'}]`]
        : []
      return {
        text: `${delta.stdout}${gap}${err}`,
        notes: [...dropped, ...sandboxNotes(outcome, advertisesEscalation)],
      }
    },
  }
}

function outcomeOf({ signal, exitCode, sandbox }: ShellOutcome): JobOutcome {
  if (sandbox?.runnerFailed) return { status: 'failed', detail: 'the command did not run' }
  if (signal !== null) return { status: 'killed', detail: `signal: ${signal}` }
  if (exitCode === null) return { status: 'killed', detail: 'killed before exit' }
  return { status: 'completed', detail: `exit code: ${exitCode}` }
}

function sandboxNotes(outcome: ShellOutcome | undefined, advertisesEscalation: boolean): string[] {
  const facts = outcome?.sandbox
  if (facts?.runnerFailed) return [runnerFailedMarker(facts.mode)]
  if (!facts?.denied) return []
  return advertisesEscalation ? [deniedMarker(facts.mode), escalationHint('command')] : [deniedMarker(facts.mode)]
}
