let last
const reads = (count) =>
  Array.from({ length: count }, (_, at) => ({ calls: [{ name: 'read', args: { file_path: `small-${at % 64}.txt` } }] }))

/** From the first request to the last: tools, log, checkpoints, assembling requests; the mock's answering is in it. */
const stepMs = (run) => (run.requests.at(-1).at - run.requests[0].at) / (run.requests.length - 1)

export const rows = [
  {
    name: 'read-step',
    what: 'time per step of 200 sequential reads, checkpoints durable',
    unit: 'ms',
    ratio: false,
    target: { text: '≤ 5 ms', reached: (value) => value <= 5 },
    measure: async (bench) => {
      last = await bench.task([...reads(200), { text: 'Done.' }])
      return { value: stepMs(last) }
    },
  },
  { name: 'reads-200', what: 'wall of the run above', unit: 'ms', measure: async () => ({ value: last.wallMs }) },
]
