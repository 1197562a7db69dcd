import type { Config } from './caps.ts'

/** What the model reads about these tools, beside their schemas. */

export function globDescription(config: Config): string {
  const max = config.globMaxResults
  const over = config.sampleOverCapGlobResults
    ? `instead returns ${max} paths sampled across top-level entries`
    : `returns the first ${max} paths in modification-time order`
  return `Find files whose paths match a glob pattern. Returns matching file paths — never directories — including hidden and ignored files (VCS metadata directories are excluded). Up to ${max} paths come back in modification-time order; a larger result ${over}, says so, and reports where the complete sorted list was saved. This tool does not enumerate directory entries.`
}

export function grepDescription(config: Config): string {
  return `Search file contents with a ripgrep regular expression. Returns matching lines with line numbers, grouped by file. Returns the first ${config.grepMaxMatches} matches inline; a capped result reports where the complete match list was saved. Use read on a matched file for surrounding context.`
}

export function globGuidance(config: Config): string {
  const over = config.sampleOverCapGlobResults
    ? `a sample of ${config.globMaxResults} across top-level entries`
    : `the ${config.globMaxResults} oldest`
  return `Use the glob tool to find files by name. A pattern without / matches names at any depth; only files are listed, hidden and ignored ones included, and a larger result shows ${over}.`
}

export function grepGuidance(readIsVisible: boolean): string {
  const first = 'Use the grep tool — not grep or rg in a shell — to search file contents'
  return readIsVisible ? `${first}, and read for the lines around a match.` : `${first}.`
}
