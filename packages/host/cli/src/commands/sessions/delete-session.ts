import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { deleteLog } from '@dsh/session-persistence-jsonl'
import { openHome } from '../../home.ts'

/** The log with what lies beside it, and the spilled tool results that only this session's log names. */
export function deleteSession(root: string, id: string): void {
  deleteLog(root, id)
  const owner = createHash('sha256').update(id).digest('hex').slice(0, 12)
  rmSync(join(openHome(), 'spill', `session-${owner}`), { recursive: true, force: true })
}
