import type { SpillStore } from '@dsh/spill-local'
import type { ToolExecution } from '@dsh/tools'

export interface SavedList {
  readonly locator: string
  readonly hint: string
}

/** Keeps the whole list where the model can read it. Undefined when there is no store, no session, or no room. */
export async function saveList(
  store: SpillStore | undefined,
  content: string,
  exec: ToolExecution,
  warn: (error: unknown) => void,
): Promise<SavedList | undefined> {
  const sessionId = exec.agent?.session.id
  if (store === undefined || sessionId === undefined || exec.parent !== undefined) return undefined
  try {
    const saved = await store.saveText({
      owner: { sessionId },
      source: { toolName: exec.name, callId: exec.callId, label: 'result' },
      suggestedName: `${exec.name}-results.txt`,
      content,
    })
    return { locator: saved.locator, hint: saved.retrievalHint }
  } catch (error) {
    warn(error)
    return undefined
  }
}
