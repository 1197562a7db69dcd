export interface LandlockGrants {
  readonly read: readonly string[]
  readonly write: readonly string[]
  /** Cut TCP; needs ABI 4. */
  readonly noTcp?: boolean
  readonly statusFd?: number
}

export function landlockArgv(launcher: string, grants: LandlockGrants, command: readonly string[]): string[] {
  return [
    launcher,
    ...grants.read.flatMap((path) => ['--ro', path]),
    ...grants.write.flatMap((path) => ['--rw', path]),
    ...(grants.noTcp === true ? ['--no-tcp'] : []),
    ...(grants.statusFd === undefined ? [] : ['--status-fd', String(grants.statusFd)]),
    '--',
    ...command,
  ]
}

/** What the launcher wrote to its status descriptor: whether the command took over. */
export function landlockStatus(text: string): { readonly ran: boolean } {
  return { ran: text.startsWith('exec\n') && !text.includes('failed\n') }
}

/** The ABI that `--probe` printed; undefined where the kernel has no Landlock. */
export function landlockAbi(probeOutput: string): number | undefined {
  const abi = /^abi (\d+)$/m.exec(probeOutput)?.[1]
  return abi === undefined ? undefined : Number(abi)
}

/** What an ABI leaves open beyond what Landlock never covers, as readable phrases. */
export function abiGaps(abi: number): readonly string[] {
  return [
    ...(abi < 3 ? ['truncating files outside'] : []),
    ...(abi < 5 ? ['device controls'] : []),
    ...(abi < 6 ? ['signals to processes outside', 'abstract unix sockets'] : []),
  ]
}
