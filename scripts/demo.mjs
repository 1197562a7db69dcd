// `npm run demo`: install and build if needed, then `dsh demo` plays a recorded coding session for real.
import { spawnSync } from 'node:child_process'
import { bin, makeReady } from './ready.mjs'

makeReady()
const { NODE_TEST_CONTEXT, ...env } = process.env
process.exit(spawnSync(process.execPath, [bin, 'demo'], { env, stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1)
