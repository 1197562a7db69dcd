import { createRequire } from 'node:module'

/** The packaged program of this platform; throws when its package is not installed. */
export function ripgrepPath(): string {
  const main = createRequire(import.meta.url).resolve('@vscode/ripgrep')
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
  return createRequire(main).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${program}`)
}
