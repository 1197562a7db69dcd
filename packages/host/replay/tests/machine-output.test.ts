import { describe, expect, test } from 'vitest'
import { machineRules } from '../src/machine-output.ts'
import type { Transcript } from '../src/transcript.ts'

const result = (text: string): Transcript => ({
  header: {},
  events: [
    {
      type: 'tool/result',
      seq: 0,
      time: 0,
      data: { message: { content: [{ type: 'tool-result', content: [{ type: 'text', text }] }] } },
    },
  ],
})
const ruled = (text: string) =>
  machineRules([result(text)]).reduce((now, rule) => now.replace(new RegExp(rule.pattern, 'gm'), rule.replace), text)

describe('what the clock and the machine print', () => {
  test.each([
    [
      'total 12\n-rw-r--r-- 1 ada staff 12 Dec  5 14:38 a.txt',
      'total 8.0K\n-rw-rw-r-- 1 root  root  12 Sep 13  2020 a.txt',
    ],
    ['drwx------ 3 a b 4096 Dec  5 14:38 ..', 'drwxrwxrwt 49 root wheel 12K 5. Dez  2020 ..'],
    ['Sat Dec  5 14:39:31 UTC 2026', 'Sun Nov 29 09:00:00 PM CET 2020'],
    ['at 2026-12-05T14:39:31.123Z.', 'at 2020-01-02 03:04:05.'],
    ['# pass 3\n# duration_ms 4.265297', '# pass 3\n# duration_ms 12'],
    ['3 passed in 0.03s', '3 passed in 12.5s'],
    ['--- PASS: TestX (0.00s)\nok  \texample.org/x\t0.003s', '--- PASS: TestX (1.20s)\nok  \texample.org/x\t1.2s'],
    ['real\t0m0.120s', 'real\t1m3.000s'],
  ])('%j is %j at another time', (a, b) => {
    expect(ruled(a)).toBe(ruled(b))
    expect(ruled(a)).not.toBe(a)
  })

  test.each([
    ['-rw-r--r-- 1 ada staff 12 Dec  5 14:38 a.txt', '-rw-r--r-- 1 ada staff 13 Dec  5 14:38 a.txt'],
    ['-rw-r--r-- 1 ada staff 12 Dec  5 14:38 a.txt', '-rw-r--r-- 1 ada staff 12 Dec  5 14:38 b.txt'],
    ['-rw-r--r-- 1 ada staff 12 Dec  5 14:38 a.sh', '-rwxr-xr-x 1 ada staff 12 Dec  5 14:38 a.sh'],
    ['3 passed in 0.03s', '2 passed in 0.03s'],
  ])('%j and %j stay apart', (a, b) => expect(ruled(a)).not.toBe(ruled(b)))

  test.each(['total 12', 'timeout: 30 s', 'version 1.2.3', 'see 2026-12-05', 'in 3 places'])('%j has no rule', (text) =>
    expect(machineRules([result(text)])).toEqual([]),
  )
})
