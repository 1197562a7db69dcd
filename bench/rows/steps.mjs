import { median } from '../table.mjs'

const reads = (count) =>
  Array.from({ length: count }, (_, at) => ({ calls: [{ name: 'read', args: { file_path: `small-${at % 64}.txt` } }] }))
const done = { text: 'Done.' }

/** From the end of one answer to the head of the next request: tools, log, checkpoints, assembly; no time of the model's. */
const gaps = (run) => run.requests.slice(1).map((request, at) => request.began - run.requests[at].ended)
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

let read200
let read1000

export const rows = [
  {
    name: 'read-step',
    what: 'time per step of 200 sequential reads, checkpoints durable',
    unit: 'ms',
    ratio: false,
    target: { text: '≤ 5 ms', reached: (value) => value <= 5 },
    measure: async (bench) => {
      read200 = await bench.task([...reads(200), done])
      return { value: mean(gaps(read200)) }
    },
  },
  { name: 'reads-200', what: 'wall of the run above', unit: 'ms', measure: async () => ({ value: read200.wallMs }) },
  {
    name: 'step-growth',
    what: 'the middle one of steps 900–1000 of one turn over that of steps 60–160',
    unit: '×',
    once: true,
    target: { text: '0.8 – 1.2 ×', reached: (value) => value <= 1.2 },
    measure: async (bench) => {
      read1000 = await bench.task([...reads(1000), done])
      const all = gaps(read1000)
      return { value: median(all.slice(900)) / median(all.slice(60, 160)) }
    },
  },
  {
    name: 'steps-1000-rss',
    what: 'peak RSS of 1000 steps',
    unit: 'MB',
    once: true,
    target: { text: '≤ 160 MB', reached: (value) => value <= 160 },
    measure: async () => ({ value: read1000.rssMb }),
  },
]
