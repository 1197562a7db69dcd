import type { Command } from '@dsh/commands'
import type { FsService } from '@dsh/fs'
import type { SandboxPolicy, SandboxPolicyService } from '@dsh/sandbox'
import type { Session } from '@dsh/session'
import { turnChanges } from './change-log.ts'
import type { History } from './recorder.ts'
import { sessionDiff } from './session-diff.ts'
import { undoText, undoTurn } from './undo.ts'

export interface HistoryCommandDeps {
  readonly fs: FsService
  readonly history: History
  readonly policies: () => SandboxPolicyService | undefined
}

/** `/diff`: what file tools changed in this session. */
export function diffCommand({ fs, history }: HistoryCommandDeps): Command {
  return {
    name: 'diff',
    description: 'show what file tools changed in this session',
    async run({ agent, signal }) {
      const { session } = agent
      const changes = turnChanges(session).flatMap((turn) => turn.changes)
      const text = await sessionDiff(changes, history.storeOf(session), fs, session.cwd, signal)
      return { kind: 'success', text: text === '' ? 'No file differs from how this session found it.' : text }
    },
  }
}

/** `/undo`: the file changes of the last turn that has any. */
export function undoCommand({ fs, history, policies }: HistoryCommandDeps): Command {
  return {
    name: 'undo',
    description: "take back the last turn's file changes, where nobody touched the files since",
    async run({ agent, args, signal }) {
      const { session } = agent
      if (args !== '') return { kind: 'error', text: 'Usage: /undo (no arguments)' }
      if (agent.status === 'running') return { kind: 'error', text: 'A turn is running; cancel it first.' }
      const turn = turnChanges(session).findLast((one) => !one.undone && one.changes.length > 0)
      if (turn === undefined) return { kind: 'success', text: 'No recorded file changes to take back.' }
      const report = await undoTurn(turn, history.storeOf(session), fs, ownPolicy(session, policies()), signal)
      if (report.restored.length > 0)
        session.append('file/undo', { turn: turn.turn, paths: report.restored }, { ignorable: true })
      return { kind: report.restored.length > 0 ? 'success' : 'error', text: undoText(turn, report) }
    },
  }
}

/** A person asks, not the model: what a call was allowed to change may be changed back. */
function ownPolicy(session: Session, policies: SandboxPolicyService | undefined): SandboxPolicy | undefined {
  return policies?.resolve({ session, mode: 'danger-full-access' })
}
