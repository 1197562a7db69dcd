let last
const answer = async (bench) => {
  last = await bench.task([{ text: 'Hello.' }])
  return last
}

export const rows = [
  {
    name: 'answer',
    what: 'headless, one answer, in a new home',
    unit: 'ms',
    target: { text: '≤ 3.5 × node', reached: (_, ratio) => ratio <= 3.5 },
    measure: async (bench) => ({ value: (await answer(bench)).wallMs }),
  },
  {
    name: 'answer-rss',
    what: 'peak RSS of the run above',
    unit: 'MB',
    target: { text: '≤ 110 MB', reached: (value) => value <= 110 },
    measure: async () => ({ value: last.rssMb }),
  },
  {
    name: 'first-request',
    what: 'bytes of the first request body, default tools',
    unit: 'kB',
    target: { text: '≤ 20 kB', reached: (value) => value <= 20 },
    measure: async () => ({ value: Buffer.byteLength(JSON.stringify(last.requests[0].body)) / 1000 }),
  },
]
