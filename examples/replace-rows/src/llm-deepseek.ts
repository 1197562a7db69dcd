import * as original from '@dsh/llm-deepseek'
import { replacing } from './replacing.ts'

export const { name, inject, Config, apply } = replacing('llm-deepseek', original)
