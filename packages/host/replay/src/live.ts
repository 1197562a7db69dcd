import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { errorCode } from '@dsh/core'
import type { Scratch } from './scratch.ts'

/** What a recording needs to reach a model: the provider's variables, and nothing else of the environment's. */
export function modelEnv(parent: NodeJS.ProcessEnv): Record<string, string> {
  const base = parent['DSH_SNAPSHOT_BASE_URL']
  const given = Object.entries(parent).filter((pair): pair is [string, string] => {
    return pair[1] !== undefined && (pair[0].startsWith('DEEPSEEK_') || /^(https?|no|all)_proxy$/i.test(pair[0]))
  })
  return { ...Object.fromEntries(given), ...(base === undefined ? {} : { DEEPSEEK_BASE_URL: base }) }
}

/** Lends the stored credentials of the user's home to the scratch home, which is removed with them. */
export async function useCredentials(scratch: Scratch, home: string): Promise<void> {
  try {
    await copyFile(path.join(home, '.credentials.yaml'), path.join(scratch.home, '.credentials.yaml'))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}
