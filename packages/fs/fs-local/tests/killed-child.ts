/** Run as a process of its own: one change, and death before the given system call. */
import { createLocalFs } from '../src/local-fs.ts'
import { observedSyscalls } from './failing-syscalls.ts'
import { mutations } from './mutations.ts'

const [kind, root, stateDir, at] = process.argv.slice(2) as [string, string, string, string]
let count = 0
const io = observedSyscalls(() => {
  if (++count === Number(at)) process.kill(process.pid, 'SIGKILL')
})
const fs = createLocalFs({ stateDir, io })
await mutations[kind]?.(fs, root)
fs.close()
