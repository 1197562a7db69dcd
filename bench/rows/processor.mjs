// What the processor works, whoever else uses it: the figures to look at on a busy machine.
const cpu = { cpu: true }
const reads = (count) =>
  Array.from({ length: count }, (_, at) => ({ calls: [{ name: 'read', args: { file_path: `small-${at % 64}.txt` } }] }))

let answer

/** Less than what the same figure in wall time may be: there is no waiting in it. */
const timesNode = (factor) => ({
  text: `≤ ${factor} × node`,
  reached: (_, ratio) => ratio <= factor,
})

export const rows = [
  {
    name: 'node-cpu',
    what: 'processor time of an empty node process',
    unit: 'ms',
    ratio: 'node-cpu',
    measure: async (bench) => ({ value: (await bench.node(['-e', '0'], cpu)).cpuMs }),
  },
  {
    name: 'version-cpu',
    repeat: 3,
    what: 'processor time of dsh --version',
    unit: 'ms',
    ratio: 'node-cpu',
    target: timesNode(1.3),
    measure: async (bench) => ({ value: (await bench.dsh(['--version'], cpu)).cpuMs }),
  },
  {
    name: 'answer-cpu',
    what: 'processor time of one answer in a new home',
    unit: 'ms',
    ratio: 'node-cpu',
    target: timesNode(3.5),
    measure: async (bench) => {
      answer = (await bench.task([{ text: 'Hello.' }], cpu)).cpuMs
      return { value: answer }
    },
  },
  {
    name: 'read-step-cpu',
    what: 'processor time of one of 200 reads: what they take more than one answer',
    unit: 'ms',
    ratio: false,
    target: { text: '≤ 5 ms', reached: (value) => value <= 5 },
    measure: async (bench) => {
      const run = await bench.task([...reads(200), { text: 'Done.' }], cpu)
      return { value: (run.cpuMs - answer) / 200 }
    },
  },
]
