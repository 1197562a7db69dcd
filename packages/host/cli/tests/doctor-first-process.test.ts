import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { bin, Place } from './dsh.ts'

const namespace = ['-pf', '--mount-proc']
const possible = spawnSync('unshare', [...namespace, 'true']).status === 0

it.skipIf(!possible)('doctor says when nobody would collect what commands leave behind', async () => {
  const place = new Place()
  const env = { ...process.env, HOME: place.root, DSH_HOME: place.home }
  const first = spawnSync('unshare', [...namespace, process.execPath, bin, 'doctor'], { cwd: place.work, env })
  expect(first.stdout.toString()).toMatch(/^note +first process +dsh is process 1 .*\n +-> .*--init/m)
  expect((await place.run(['doctor'])).stdout).not.toContain('first process')
})
