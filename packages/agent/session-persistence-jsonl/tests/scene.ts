import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@dsh/cordis'
import type { Session } from '@dsh/session'
import * as sessionRow from '@dsh/session'
import { onTestFinished } from 'vitest'
import * as row from '../src/index.ts'

/** A host with the two rows over a root that goes away with the test. */
export async function host(root: string, config: Record<string, unknown> = {}) {
  const ctx = new Context()
  await ctx.plugin(sessionRow)
  const fiber = ctx.plugin(row, { root, ...config } as never)
  await fiber
  return { ctx, sessions: ctx.sessions, store: ctx.sessionPersistence, dispose: () => fiber.dispose() }
}

export function temporaryRoot(): string {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-sessions-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'sessions')
}

export const append = { surfaceOp: 'append' } as const

export function prompt(text: string) {
  return {
    content: [{ type: 'text' as const, text }],
    source: { kind: 'user' },
    role: 'user' as const,
    id: `u-${text}`,
  }
}

/** One whole turn with a tool call; `until` stops in the middle, as a killed process does. */
export function playTurn(session: Session, turn: number, until: 'call' | 'message' | 'end' = 'end'): void {
  session.append('turn/start', { turn })
  session.append('step/start', { turn, step: 1 })
  session.append('user/message', prompt(`prompt ${turn}`), append)
  for (const text of ['I ', 'will ', 'look', '.'])
    session.append('assistant/chunk', { turn, step: 1, chunk: { type: 'text-delta', index: 0, text } })
  session.append('assistant/chunk', {
    turn,
    step: 1,
    chunk: { type: 'block-end', index: 0, block: { type: 'text', text: 'I will look.' } },
  })
  const call = { type: 'tool-call' as const, id: `c${turn}`, name: 'bash', arguments: '{}' }
  session.append(
    'assistant/message',
    {
      turn,
      step: 1,
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'I will look.' }, call],
        source: { kind: 'model', provider: 'p', model: 'm' },
        id: `a${turn}`,
      },
    },
    append,
  )
  if (until === 'message') return
  const { seq } = session.append('tool/call', { turn, step: 1, callId: call.id, name: 'bash', arguments: '{}' })
  if (until === 'call') return
  session.append(
    'tool/result',
    {
      turn,
      step: 1,
      message: {
        source: { kind: 'tool', callId: call.id },
        content: [
          { type: 'tool-result', toolCallId: call.id, content: [{ type: 'text', text: 'ok' }], isError: false },
        ],
        role: 'user',
        id: `r${turn}`,
      },
    },
    { ...append, sourceEventSeqs: [seq] },
  )
  session.append('step/end', { turn, step: 1 })
  session.append('turn/end', { turn, reason: { kind: 'completed' } })
}

export async function pathOf(where: Awaited<ReturnType<typeof host>>, session: Session): Promise<string> {
  return (await where.store.locate(session.id)) as string
}

export function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}
