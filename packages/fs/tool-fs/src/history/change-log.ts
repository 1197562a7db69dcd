import type { Fold, Session } from '@dsh/session'

/** One changed file, as the log keeps it. Hashes name objects of the before-text store: `sha256:<hex>`. */
export interface FileChangeRecord {
  readonly callId: string
  /** Canonical. */
  readonly path: string
  readonly operation: 'create' | 'update' | 'delete'
  /** Absent on create, and where the text was too large to keep. */
  readonly before?: string
  /** Absent on delete, and where the text was too large to hash. */
  readonly after?: string
}

declare module '@dsh/session' {
  interface SessionEventMap {
    /** Ours, ignorable: a file tool changed a file. */
    'file/change': FileChangeRecord
    /** Ours, ignorable: the file changes of a turn were taken back. */
    'file/undo': { readonly turn: number; readonly paths: readonly string[] }
  }
}

export interface TurnChanges {
  readonly turn: number
  readonly changes: readonly FileChangeRecord[]
  /** Whether a shell command ran: what it changed is not recorded. */
  readonly shell: boolean
  readonly undone: boolean
}

interface State {
  readonly turns: TurnChanges[]
  open: number | undefined
}

const shellTools = new Set(['bash', 'pwsh'])

const changesByTurn: Fold<State> = {
  initial: () => ({ turns: [], open: undefined }),
  apply(state, event) {
    switch (event.type) {
      case 'turn/start':
        state.open = event.data.turn
        return state
      case 'file/change':
        update(state, (turn) => ({ ...turn, changes: [...turn.changes, event.data] }))
        return state
      case 'tool/call':
        if (shellTools.has(event.data.name)) update(state, (turn) => ({ ...turn, shell: true }))
        return state
      case 'file/undo': {
        const at = state.turns.findLastIndex((turn) => turn.turn === event.data.turn)
        if (at !== -1) state.turns[at] = { ...(state.turns[at] as TurnChanges), undone: true }
        return state
      }
      default:
        return state
    }
  },
}

function update(state: State, change: (turn: TurnChanges) => TurnChanges): void {
  const turn = state.open ?? 0
  const last = state.turns.at(-1)
  if (last?.turn === turn && !last.undone) state.turns[state.turns.length - 1] = change(last)
  else state.turns.push(change({ turn, changes: [], shell: false, undone: false }))
}

/** In order; turns without a change or a command are left out. */
export function turnChanges(session: Session): readonly TurnChanges[] {
  return session.fold(changesByTurn).turns
}
