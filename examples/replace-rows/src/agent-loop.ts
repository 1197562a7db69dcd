import * as original from '@dsh/agent-loop'
import { replacing } from './replacing.ts'

export const { name, inject, Config, apply } = replacing('agent-loop', original)
