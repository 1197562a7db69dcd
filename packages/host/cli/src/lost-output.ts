/**
 * Watches the process' own streams. A reader that went away (`| head -1`) has what it wanted; output that could not be
 * written for another reason is lost, and no such run ends as a success.
 */
export function watchOutput(): (code: number) => number {
  let lost = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (lost || error.code === 'EPIPE') return
    lost = true
    const words = error.message.replace(/^([A-Z0-9]+): (.*), \w+$/, '$2 ($1)')
    process.stderr.write(`dsh: the output could not be written: ${words}\n`)
  })
  process.stderr.on('error', () => {})
  return (code) => (lost && code === 0 ? 1 : code)
}
