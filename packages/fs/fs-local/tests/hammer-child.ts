/** Run as a process of its own: raises a counter in a file, ten calls at a time, each at the version it read. */
import { errorCode } from '@dsh/core'
import { createLocalFs } from '../src/local-fs.ts'
import { parseCounter, renderCounter } from './counter.ts'

const [file, stateDir, rounds] = process.argv.slice(2) as [string, string, string]
const fs = createLocalFs({ stateDir })
const target = await fs.resolve(file)
let won = 0
let stale = 0
for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const version = (await fs.stat(target))?.version as string
      const value = parseCounter(await fs.readText(target))
      try {
        await fs.writeText(target, renderCounter(value + 1), { kind: 'replaceIfVersion', version })
        won++
      } catch (error) {
        if (errorCode(error) !== 'FS_STALE_VERSION') throw error
        stale++
      }
    }),
  )
}
fs.close()
process.stdout.write(JSON.stringify({ won, stale }))
