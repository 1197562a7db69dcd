import { statSync } from 'node:fs'
import type { SubprocessService } from '@dsh/subprocess'

/** Where systems keep bash, in case the search path leads only to places that commands can write. */
const usual = ['/usr/bin/bash', '/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash']

/** The one bash of this run, found once, so that nothing a command writes later takes its place. */
export function findBash(subprocess: SubprocessService, writableRoots: readonly string[]): string {
  const found = subprocess.resolveExecutable('bash', writableRoots) ?? usual.find(isFile)
  if (found === undefined) throw new Error('no bash on PATH outside the directories that commands may write')
  return found
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
