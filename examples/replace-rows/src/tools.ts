import * as original from '@dsh/tools'
import { replacing } from './replacing.ts'

export const { name, inject, Config, apply } = replacing('tools', original)
