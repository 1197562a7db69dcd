import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

test('the eight files of docs/one-tool-call.md exist, each behind its own name', () => {
  const doc = path.resolve(import.meta.dirname, '../../../../docs/one-tool-call.md')
  const links = [...readFileSync(doc, 'utf8').matchAll(/^\d\. \[([^\]]+)\]\(([^)]+)\)/gm)]
  expect(links).toHaveLength(8)
  for (const [, label, target] of links) {
    const file = path.resolve(path.dirname(doc), target!)
    expect(existsSync(file), target).toBe(true)
    expect(file.endsWith(`/${label}`), label).toBe(true)
  }
})
