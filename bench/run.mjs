// `npm run bench [-- --rows NAME,NAME --runs N --json FILE --agent 'cmd {prompt}']`: every figure measured in one run,
// the rows interleaved, medians with their spread, times also as a ratio to an empty node process.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { makeReady } from '../scripts/ready.mjs'
import { openBench } from './driver.mjs'
import { facts, tableOf, unitOf } from './table.mjs'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    runs: { type: 'string', default: '7' },
    json: { type: 'string' },
    agent: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean' },
  },
})

const rows = (
  await Promise.all(
    ['startup', 'answer', 'steps', 'processor', 'bash', 'search', 'log', 'output', 'size'].map(
      (file) => import(`./rows/${file}.mjs`),
    ),
  )
).flatMap((module) => module.rows)
if (values.list) {
  for (const row of rows) console.log(`${row.name.padEnd(28)} ${row.what}`)
  process.exit(0)
}
const wanted = values.rows?.split(',')
const unknown = wanted?.find((name) => !rows.some((row) => row.name === name))
if (unknown !== undefined) {
  console.error(`no row "${unknown}"; --list shows them`)
  process.exit(2)
}
const chosen = rows.filter((row) => wanted === undefined || row.name === 'node' || wanted.includes(row.name))
const runs = Number(values.runs)

makeReady()
const bench = await openBench({ agent: values.agent, pass: values.env })
const samples = new Map(chosen.map((row) => [row.name, []]))
try {
  // The first pass warms file caches and is thrown away.
  for (let pass = 0; pass <= runs; pass++) {
    for (const row of chosen) {
      if (row.once && pass !== 1) continue
      for (let time = 0; time < (pass === 0 ? 1 : (row.repeat ?? 1)); time++) {
        const sample = await measured(row)
        if (pass > 0) samples.get(row.name).push(sample)
      }
    }
    process.stderr.write(pass === 0 ? 'warm' : '.')
  }
  process.stderr.write('\n')
} finally {
  await bench.close()
}

/** A time with its ratio to an empty process measured just before and just after it: machines change their speed. */
async function measured(row) {
  const unit = rows.find(({ name }) => name === unitOf(row))
  if (unit === undefined || unit === row) return await row.measure(bench)
  const before = await unit.measure(bench)
  const sample = await row.measure(bench)
  const after = await unit.measure(bench)
  return { ...sample, ratio: (2 * sample.value) / (before.value + after.value) }
}

console.log(facts())
console.log(tableOf(chosen, samples))
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ facts: facts(), samples: Object.fromEntries(samples) }, null, 1)}\n`)
