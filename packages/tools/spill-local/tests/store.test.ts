import { existsSync, mkdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempWorkspace } from '@dsh/testkit'
import { describe, expect, it } from 'vitest'
import { encodeName, FileSpillStore } from '../src/store.ts'

const request = (content: string, sessionId = 's1') => ({
  owner: { sessionId },
  source: { toolName: 'bash', callId: 'c1' },
  suggestedName: 'bash.txt',
  content,
})

describe('the spill store', () => {
  it('keeps a text in a private file of its session', async () => {
    const { root } = await tempWorkspace()
    const saved = await new FileSpillStore(join(root, 'spill')).save(request('añ'))
    expect(saved.locator).toMatch(/\/spill\/session-[0-9a-f]{12}\/[0-9a-f]{12}-bash\.txt$/)
    expect(saved.bytes).toBe(3)
    expect(readFileSync(saved.locator, 'utf8')).toBe('añ')
    expect(statSync(saved.locator).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(saved.locator)).mode & 0o777).toBe(0o700)
  })

  it('removes what this run stored, and what others left more than a week ago', async () => {
    const { root } = await tempWorkspace()
    const store = new FileSpillStore(root)
    const { locator } = await store.save(request('x'))
    const [old, young, foreign] = ['session-0123456789ab', 'session-0123456789ac', 'captures'].map((name) =>
      join(root, name),
    )
    const eightDaysAgo = (Date.now() - 8 * 24 * 3_600_000) / 1000
    for (const dir of [old, young, foreign]) mkdirSync(dir as string)
    for (const dir of [old, foreign]) utimesSync(dir as string, eightDaysAgo, eightDaysAgo)
    await store.removeOld()
    expect([old, young, foreign, locator].map((path) => existsSync(path as string))).toEqual([false, true, true, true])
    await store.removeOwn()
    expect(existsSync(locator)).toBe(false)
    expect(existsSync(young as string)).toBe(true)
  })

  it('lets no name leave its directory', () => {
    expect(encodeName('../a b/ü.txt')).toBe('..~002fa~0020b~002f~00fc.txt')
  })
})
