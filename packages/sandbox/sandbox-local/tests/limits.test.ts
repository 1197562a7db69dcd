import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { makeCgroups, placesFor } from '../src/cgroups.ts'
import { applyLimits } from '../src/limits.ts'

const amounts = { pids: 50, memory: 512 * 2 ** 20 }

it('version 1 has a hierarchy for each controller, version 2 one group beside our own', () => {
  const version1 = placesFor(amounts, {
    own: '8:pids:/a\n4:memory:/b/c\n1:cpu:/\n0::/\n',
    mounts: [
      '30 25 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
      '31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '32 25 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      '33 25 0:29 / / rw - ext4 /dev/vda rw',
    ].join('\n'),
  })
  expect(
    version1.map(({ parent, settings }) => [parent, settings.map(({ file, value }) => `${file}=${value}`)]),
  ).toEqual([
    ['/sys/fs/cgroup/pids/a', ['pids.max=50']],
    ['/sys/fs/cgroup/memory/b/c', ['memory.limit_in_bytes=536870912']],
  ])
  const version2 = placesFor(amounts, {
    own: '0::/user.slice/user-1.slice/app.slice/term.scope\n',
    mounts: '30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
  })
  expect(version2.map(({ parent, settings }) => [parent, settings.map(({ file }) => file)])).toEqual([
    ['/sys/fs/cgroup/user.slice/user-1.slice/app.slice', ['pids.max', 'memory.max']],
  ])
  expect(placesFor(amounts, { own: '', mounts: '' })).toEqual([])
})

it('a directory that is no control group is left alone', () => {
  const groups = makeCgroups(amounts, { own: '0::/x\n', mounts: '30 25 0:26 / /tmp rw - cgroup2 cgroup2 rw' })
  expect(groups.directories).toEqual([])
  expect(readdirSync('/tmp').filter((name) => name === `dsh-${process.pid}`)).toEqual([])
})

it('a fork bomb stops at the limit, and its group is gone afterwards', async (test) => {
  const limits = applyLimits({ pids: 50, memoryShare: 0.5 }, '/bin/sh')
  if (!limits.words.includes('control groups')) return test.skip(limits.words)
  const [program, ...args] = limits.wrap(['/bin/bash', '-c', 'b() { b | b & b; }; b 2>/dev/null']) as [
    string,
    ...string[],
  ]
  const groups = args.filter((word) => word.startsWith('/sys/'))
  const bomb = spawn(program, args, { stdio: 'ignore', detached: true })
  await new Promise((resolve) => setTimeout(resolve, 600))
  const before = process.hrtime.bigint()
  expect(spawnSync('/bin/true').status).toBe(0)
  expect(Number(process.hrtime.bigint() - before) / 1e6).toBeLessThan(2000)
  process.kill(-(bomb.pid as number), 'SIGKILL')
  await limits.remove()
  expect(groups.filter((group) => existsSync(group))).toEqual([])
  expect(groups.every((group) => existsSync(dirname(group)))).toBe(true)
})
