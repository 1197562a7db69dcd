import type { LlmService } from '@dsh/llm'
import type { ResolveRoute } from './read-image.ts'

/** Exactly the model of the session's last request, else the one the agent was made for. */
export function sessionRoute(llm: () => LlmService | undefined): ResolveRoute {
  return async (exec) => {
    const asked = exec.agent?.session.requestHeader?.config ?? exec.agent?.options
    const service = llm()
    if (service === undefined || asked?.provider === undefined || asked.model === undefined) return undefined
    try {
      const { inputModalities } = await service.resolveModel(asked.provider, asked.model)
      return { model: asked.model, ...(inputModalities === undefined ? {} : { inputModalities }) }
    } catch {
      return undefined
    }
  }
}
