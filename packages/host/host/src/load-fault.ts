import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCode } from '@dsh/core'

/** What kept a row's module from being loaded, with the place or the next step where Node leaves it out. */
export async function loadFault(error: unknown, row: string): Promise<unknown> {
  if (error instanceof SyntaxError) {
    const place = placeInStack(error) ?? (await placeInFiles(row))
    return place === undefined ? error : fault(`${error.message} (${place})`, error)
  }
  if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') return error
  const [, name, profile] = MISSING.exec((error as Error).message) ?? []
  if (name === undefined) return error
  return fault(`cannot find package "${name}"; install it: dsh plugin --profile ${profile} add ${name}`, error as Error)
}

/** The file that asks for the packages of a profile lies in the profile's directory. */
const MISSING = /^Cannot find package '([^']+)' imported from .*?([^/\\]+)[/\\]\.dsh-anchor\.mjs$/

function fault(message: string, { stack }: Error): Error {
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}

/** Node writes `file:line` above the stack of a module that cannot be linked. */
function placeInStack({ stack = '' }: SyntaxError): string | undefined {
  const [, url, line] = /^(file:\/\/\S+):(\d+)\n/.exec(stack) ?? []
  return url === undefined ? undefined : `${fileURLToPath(url)}:${line}`
}

/** The first file that cannot be parsed: the row's own, or one that it imports by a relative path. */
async function placeInFiles(row: string): Promise<string | undefined> {
  const first = row.startsWith('file:') ? fileURLToPath(row) : row
  if (!path.isAbsolute(first)) return undefined
  const files = new Set([first])
  // What is imported joins the set while it is walked.
  for (const file of files) {
    if (files.size > MOST_FILES) return undefined
    const place = await placeInFile(file)
    if (place !== undefined) return place
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [, near = ''] of text.matchAll(RELATIVE_IMPORT)) files.add(path.resolve(path.dirname(file), near))
  }
  return undefined
}

const MOST_FILES = 50
const RELATIVE_IMPORT = /\b(?:import|export|from|require)\b[\s(]*['"](\.{1,2}\/[^'"\n]+)['"]/g

/** A module that cannot be parsed has no place in its error, unless it ends the process: so another one is asked. */
function placeInFile(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: 5_000 }, (_failed, _stdout, stderr) => {
      const first = stderr.split('\n', 1)[0] ?? ''
      const [, where, line] = /^(.+):(\d+)$/.exec(first) ?? []
      resolve(where === undefined ? undefined : `${where.startsWith('file:') ? fileURLToPath(where) : where}:${line}`)
    })
  })
}
