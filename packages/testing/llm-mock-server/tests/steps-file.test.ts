import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseSteps } from '../src/index.ts'

describe('a file of steps', () => {
  it('takes every kind of step as it is', () => {
    const steps = [
      {
        reasoning: 'r',
        text: 't',
        calls: [
          { name: 'bash', args: { command: 'ls' } },
          { name: 'x', args: '{broken' },
        ],
      },
      { status: 429, headers: { 'retry-after': '1' }, body: '{}' },
      { raw: [{ choices: [] }, '[DONE]'], drop: true, stallMs: 5 },
      { behaviour: 'stall', ms: 100 },
      { behaviour: 'random' },
      {},
    ]
    expect(parseSteps(JSON.stringify(steps), 's.json')).toEqual(steps)
  })

  it.each([
    ['{"text": "x"}', 'it must be a list of steps, such as [{"text": "Done."}]'],
    ['[]', 'it must be a list of steps, such as [{"text": "Done."}]'],
    ['[{"txt": "x"}]', 'step 1: Unrecognized key: "txt"; it takes reasoning, text, calls, finish,'],
    ['[{}, "x"]', 'step 2: Invalid input: expected object, received string'],
    ['[{}, {"calls": {"name": "x"}}]', 'step 2: Invalid input: expected array, received object (at calls)'],
    ['[{"calls": [{"args": {}}]}]', 'step 1: Invalid input: expected string, received undefined (at calls.0.name)'],
    ['[{"behaviour": "stal"}]', 'step 1: Invalid option: expected one of "random"'],
    ['[{"status": "429"}]', 'step 1: Invalid input: expected number, received string (at status)'],
    ['[{"status": 200, "text": "x"}]', 'step 1: Unrecognized key: "text"; it takes status, headers, body'],
    ['[{', 'no JSON: '],
  ])('tells in one line what is wrong with %s', (json, message) => {
    expect(() => parseSteps(json, 's.json')).toThrow(`s.json: ${message}`)
    expect(() => parseSteps(json, 's.json')).not.toThrow(/\n/)
  })
})

describe('npm run mock-model', () => {
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'mock-steps-'))
    writeFileSync(path.join(dir, 'bad.json'), '[{"txt": "x"}]')
  })
  afterAll(() => rm(dir, { recursive: true }))

  it.each([
    ['absent.json', 'there is no such file'],
    ['.', 'it is a directory'],
    ['bad.json', 'step 1: Unrecognized key: "txt"'],
  ])('refuses %s in one line', async (name, reason) => {
    const script = path.resolve(import.meta.dirname, '../../../../scripts/mock-model.mjs')
    const failed = await promisify(execFile)(process.execPath, [script, name], { cwd: dir }).catch((error) => error)
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/^error: .*\n$/)
    expect(failed.stderr).toContain(`error: ${name}: ${reason}`)
  })
})
