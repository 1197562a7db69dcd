import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkComposition, compose, isMapping, type RowNode, readPatches, readRows } from '@dsh/compose'
import { DshError, errorText } from '@dsh/core'

/** The rows of a `cordis:include`: the list in its file with its own patches applied. Other layers do not reach them. */
export function includedRows(row: RowNode): readonly RowNode[] {
  const config = row.fields['config']
  const path = isMapping(config) ? config['path'] : undefined
  if (typeof path !== 'string') throw new DshError('INCLUDE', 'config.path must name a file')
  const file = path.startsWith('file:') ? fileURLToPath(path) : path
  if (!['.yml', '.yaml', '.json'].includes(extname(file))) {
    throw new DshError('INCLUDE', `extension "${extname(file)}" not supported`)
  }
  const patches = (config as Record<string, unknown>)['patches']
  const layers = [
    readRows({ label: file, kind: 'patch', file, text: readText(file) }),
    readPatches({ label: `${row.id}.patches`, kind: 'patch', file }, patches),
  ]
  const composition = compose(layers)
  checkComposition(composition)
  return composition.rows
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new DshError('INCLUDE', `failed to read config file ${file}: ${errorText(error)}`, { cause: error })
  }
}
