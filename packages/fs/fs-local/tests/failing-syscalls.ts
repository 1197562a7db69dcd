import type { FileHandle } from 'node:fs/promises'
import { nodeSyscalls, type Syscalls } from '../src/syscalls.ts'

/** Real system calls, each announced by name before it runs; `before` may throw, or end the process. */
export function observedSyscalls(before: (name: string) => void): Syscalls {
  const wrapped = Object.fromEntries(
    Object.entries(nodeSyscalls).map(([name, call]) => [
      name,
      async (...args: unknown[]) => {
        before(name)
        return await (call as (...args: unknown[]) => Promise<unknown>)(...args)
      },
    ]),
  ) as unknown as Syscalls
  return {
    ...wrapped,
    async open(path, flags, mode) {
      return watchedHandle(await wrapped.open(path, flags, mode), before)
    },
  }
}

const handleCalls = new Set(['writeFile', 'sync', 'chmod', 'chown', 'stat', 'read', 'close'])

function watchedHandle(handle: FileHandle, before: (name: string) => void): FileHandle {
  return new Proxy(handle, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (handleCalls.has(String(key))) before(`handle.${String(key)}`)
        return await (value as (...args: unknown[]) => unknown).apply(target, args)
      }
    },
  })
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail, ${code.toLowerCase()} '/staging/path'`), { code })
}
