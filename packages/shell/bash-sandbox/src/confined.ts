import type { Launch, Verdict } from '@dsh/bash-local'
import { errorText } from '@dsh/core'
import { type ConfinedCommand, type SandboxMode, sandboxUnavailable } from '@dsh/sandbox'
import { type ShellSandboxFacts, signalOfExitCode } from '@dsh/shell'
import type { SettledProcess } from '@dsh/subprocess'

/** A command behind a runner: how to spawn it, and how to read afterwards what became of it. */
export function confinedLaunch(confined: ConfinedCommand, mode: SandboxMode): Launch {
  const { readStatus } = confined
  return {
    argv: confined.argv,
    ...(confined.env === undefined ? {} : { env: confined.env }),
    ...(confined.statusFd === undefined ? {} : { statusFd: confined.statusFd }),
    ...(readStatus === undefined ? {} : { innerPid: (status: string) => readStatus(status).innerPid }),
    judge: (settled, stopped) => judge(confined, mode, settled, stopped),
    spawnFailed: (error) => sandboxUnavailable(mode, { detail: errorText(error), cause: error }),
  }
}

/**
 * The runner's own report says whether the command ran; what the command printed never does. A runner that was
 * killed could not report any more, and one that this program ended was running.
 */
function judge(confined: ConfinedCommand, mode: SandboxMode, settled: SettledProcess, stopped: boolean): Verdict {
  const status = confined.readStatus?.(settled.status)
  const facts: ShellSandboxFacts = {
    mode,
    denied: false,
    enforcement: confined.enforcement,
    rung: confined.rung,
    ...(confined.notCovered.length === 0 ? {} : { notCovered: confined.notCovered }),
  }
  if (settled.exitCode !== null && status?.ran === false && !stopped) {
    confined.runnerFailed?.()
    const detail = firstLine(settled.stderr.text) ?? `exit code ${settled.exitCode}`
    return {
      exitCode: settled.exitCode,
      signal: null,
      sandbox: { ...facts, runnerFailed: true },
      failure: sandboxUnavailable(mode, { detail }),
    }
  }
  const { exitCode, signal } = howItEnded(confined, settled, status?.exitCode)
  const denied = exitCode !== null && exitCode !== 0 && saysDenied(confined, settled.stderr.text)
  return { exitCode, signal, sandbox: { ...facts, denied } }
}

function howItEnded(
  confined: ConfinedCommand,
  settled: SettledProcess,
  reported: number | undefined,
): { readonly exitCode: number | null; readonly signal: string | null } {
  if (settled.exitCode === null) return { exitCode: null, signal: settled.signal }
  const exitCode = reported ?? settled.exitCode
  const signal = confined.mapsSignalsToExitCodes ? signalOfExitCode(exitCode) : undefined
  return signal === undefined ? { exitCode, signal: null } : { exitCode: null, signal }
}

function saysDenied(confined: ConfinedCommand, stderr: string): boolean {
  const text = stderr.toLowerCase()
  return confined.denialSignatures.some((signature) => text.includes(signature))
}

function firstLine(text: string): string | undefined {
  return text.split('\n').find((line) => line.trim() !== '')
}
