const wall = (run) => ({ value: run.wallMs })
const timesNode = (factor) => ({
  text: `≤ ${factor} × node`,
  reached: (_, ratio) => ratio <= factor,
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
    repeat: 3,
    what: 'dsh --version',
    unit: 'ms',
    target: timesNode(1.3),
    measure: async (bench) => wall(await bench.dsh(['--version'])),
  },
  {
    name: 'help',
    repeat: 3,
    what: 'dsh --help',
    unit: 'ms',
    target: timesNode(1.3),
    measure: async (bench) => wall(await bench.dsh(['--help'])),
  },
]
