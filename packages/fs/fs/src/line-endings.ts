export type LineEnding = '\n' | '\r\n'

/** CRLF only where most lines have it. `feedCount` counts both kinds. */
export function majorityEnding(crlfCount: number, feedCount: number): LineEnding {
  return crlfCount > feedCount - crlfCount ? '\r\n' : '\n'
}
