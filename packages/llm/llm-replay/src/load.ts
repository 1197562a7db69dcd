import { readFile } from 'node:fs/promises'
import { errorCode } from '@dsh/core'
import { parseLog } from '@dsh/session'
import type { ScriptFiles } from './config.ts'
import { applyOverride } from './override.ts'
import { deriveScript, orderChildren, requireFinished, type Script } from './script.ts'

/** Reads the recorded sessions: the primary first, its override laid over it. `hold`: a call without an end is no fault. */
export async function loadScripts(files: ScriptFiles, hold = false): Promise<Script[]> {
  const primary = deriveScript(parseLog(await read(files.primary, missingPrimary)))
  const override = files.override === undefined ? undefined : await readOptional(files.override)
  const calls =
    override === undefined ? primary.calls : applyOverride(primary.calls, override, files.override as string)
  const children = await Promise.all(
    files.children.map(async (file) => deriveScript(parseLog(await read(file, missingChild)))),
  )
  const scripts = [{ ...primary, calls }, ...orderChildren(children)]
  if (!hold) for (const script of scripts) requireFinished(script.calls)
  return scripts
}

const missingPrimary = (file: string) => `llm-replay: fixture not found: ${file} — record it first`
const missingChild = (file: string) => `llm-replay: child fixture not found: ${file} — re-record the scenario`

async function read(file: string, missing: (file: string) => string): Promise<string> {
  const text = await readOptional(file)
  if (text === undefined) throw new Error(missing(file))
  return text
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
