import type { ShellArrival } from '@dsh/shell'

const maxRuns = 256

/** Records in which order the two streams arrived: runs of bytes, neighbours of one stream merged. */
export function arrivalLog(): {
  readonly note: (stream: 'stdout' | 'stderr', bytes: number) => void
  readonly runs: () => readonly ShellArrival[]
} {
  const runs: ['stdout' | 'stderr', number][] = []
  return {
    note: (stream, bytes) => {
      const last = runs[runs.length - 1]
      if (last?.[0] === stream) last[1] += bytes
      else if (runs.length < maxRuns) runs.push([stream, bytes])
    },
    runs: () => runs,
  }
}
