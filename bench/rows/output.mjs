// A command that says two gigabytes: memory stays flat, and the pipe stays quick.
import { spawnSync } from 'node:child_process'

const command = 'yes | head -c 2G'
let last

export const rows = [
  {
    name: 'output-2g',
    what: `throughput of \`${command}\` through the bash tool over the same into \`cat > /dev/null\``,
    unit: '%',
    target: { text: '≥ 50 %', reached: (value) => value >= 50 },
    measure: async (bench) => {
      const started = performance.now()
      spawnSync('bash', ['-c', `${command} | cat > /dev/null`], { stdio: 'ignore' })
      const plain = performance.now() - started
      const call = { name: 'bash', args: { command, description: 'Say a lot', timeoutMs: 120_000 } }
      last = await bench.task([{ calls: [call] }, { text: 'Done.' }])
      return { value: (100 * plain) / (last.requests[1].at - last.requests[0].at) }
    },
  },
  {
    name: 'output-2g-rss',
    what: 'peak RSS of the run above',
    unit: 'MB',
    target: { text: 'flat', reached: (value) => value <= 200 },
    measure: async () => ({ value: last.rssMb }),
  },
]
