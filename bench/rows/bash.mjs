const commands = (count) =>
  Array.from({ length: count }, (_, at) => ({
    calls: [{ name: 'bash', args: { command: `: ${at}`, description: 'Do nothing' } }],
  }))

/** From the second request to the last: the first command also pays for the probe of a new home. */
const laterStepMs = (run) => {
  const later = run.requests.slice(2).map((request, at) => request.began - run.requests[at + 1].ended)
  return later.reduce((sum, ms) => sum + ms, 0) / later.length
}

const step = (words) => async (bench) => ({
  value: laterStepMs(await bench.task([...commands(40), { text: 'Done.' }], { words })),
})

export const rows = [
  {
    name: 'bash-step',
    what: 'time per step of 40 sequential commands after the first, confined as here',
    unit: 'ms',
    ratio: false,
    target: { text: '≤ 35 ms', reached: (value) => value <= 35 },
    measure: step([]),
  },
  {
    name: 'bash-step-unconfined',
    what: 'the same with full access: what confinement costs is the difference',
    unit: 'ms',
    ratio: false,
    measure: step(['--permission-mode', 'danger-full-access']),
  },
]
