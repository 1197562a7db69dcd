import * as original from '@dsh/session-persistence-jsonl'
import { replacing } from './replacing.ts'

export const { name, inject, Config, apply } = replacing('session-persistence-jsonl', original)
