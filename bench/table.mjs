// The one format of results: a line per row.
import { readFileSync } from 'node:fs'
import os from 'node:os'

export function facts() {
  const cpu = os.cpus()[0]?.model ?? 'unknown cpu'
  const load = os.loadavg()[0].toFixed(2)
  return `${cpu}, ${os.availableParallelism()} cores, ${Math.round(os.totalmem() / 2 ** 30)} GB, ${os.type()} ${os.release()}, node ${process.version}, load ${load}, dsh ${version()}`
}

function version() {
  return JSON.parse(readFileSync(new URL('../packages/host/cli/package.json', import.meta.url), 'utf8')).version
}

/** The row whose value is the unit of this one's ratio. */
export function unitOf(row) {
  if (row.unit !== 'ms' || row.ratio === false) return undefined
  return typeof row.ratio === 'string' ? row.ratio : 'node'
}

export function tableOf(rows, samples) {
  const lines = rows.map((row) => {
    const values = samples.get(row.name).map((sample) => sample.value)
    const middle = median(values)
    const ratio =
      unitOf(row) === undefined ? undefined : median(samples.get(row.name).map((sample) => sample.ratio ?? 1))
    const perNode = ratio === undefined ? '' : `${ratio.toFixed(2)} × node`
    const verdict = row.target === undefined ? '' : row.target.reached(middle, ratio) ? 'reached' : 'MISSED'
    const spread = values.length > 1 ? `${figure(Math.min(...values))} – ${figure(Math.max(...values))}` : ''
    return [row.name, `${figure(middle)} ${row.unit}`, spread, perNode, row.target?.text ?? '', verdict]
  })
  return aligned([['row', 'median', 'spread', 'ratio', 'target', ''], ...lines])
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function figure(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function aligned(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
