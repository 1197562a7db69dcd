const wall = (run) => ({ value: run.wallMs })
const timesNode = (factor) => ({
  text: `≤ ${factor} × node`,
  reached: (value, { node }) => value <= factor * node,
})

export const rows = [
  {
    name: 'node',
    what: 'an empty node process, the unit of the ratios',
    unit: 'ms',
    measure: async (bench) => wall(await bench.node(['-e', '0'])),
  },
  {
    name: 'version',
    what: 'dsh --version',
    unit: 'ms',
    target: timesNode(1.3),
    measure: async (bench) => wall(await bench.dsh(['--version'])),
  },
  {
    name: 'help',
    what: 'dsh --help',
    unit: 'ms',
    target: timesNode(1.3),
    measure: async (bench) => wall(await bench.dsh(['--help'])),
  },
]
