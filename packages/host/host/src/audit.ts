import type { Composition, RowNode } from '@dsh/compose/core'
import { placeInRow } from './fault-line.ts'
import { allMounted, type MountedRow, rowFault } from './mount.ts'

/** Which services a package provides, as far as it is known without loading it. */
export type Provides = (name: string) => readonly string[]

/**
 * One line per row that should run and does not: the row, its package, its layer, the reason. Rows that failed by
 * themselves come before those that wait, for they may be why. Rows that only wait for rows told already share a line.
 */
export function audit(composition: Composition, mounted: readonly MountedRow[], provides: Provides): string[] {
  const all = [...allMounted(mounted)]
  const faults = all.flatMap((row) => {
    const fault = rowFault(row)
    return fault === undefined ? [] : [{ row, fault }]
  })
  const failed = faults.filter(({ fault }) => 'reason' in fault)
  const waiting = faults.filter(({ fault }) => !('reason' in fault))
  const followers = followersOf(faults, all, provides)
  const alone = followers.size === 1 ? waiting : waiting.filter(({ row }) => !followers.has(row))
  const lines = [...failed, ...alone].map(({ row, fault }) => {
    const reason =
      'reason' in fault
        ? `${fault.reason}${placeInRow(fault.error, row.row.name)}`
        : waitingText(fault.waiting, row, all, provides)
    return `row ${row.row.id} (${row.row.name}, ${layersOf(composition, row.row)}): ${reason}`
  })
  if (followers.size < 2) return lines
  const ids = [...followers].map(({ row }) => row.id).join(', ')
  return [...lines, `${followers.size} rows are waiting for services of rows that do not run: ${ids}`]
}

type Fault = NonNullable<ReturnType<typeof rowFault>>

/** Rows that would run if others did: all that they miss comes from rows whose own faults are told. */
function followersOf(
  faults: readonly { readonly row: MountedRow; readonly fault: Fault }[],
  all: readonly MountedRow[],
  provides: Provides,
): ReadonlySet<MountedRow> {
  const missing = new Map<MountedRow, readonly (MountedRow | undefined)[]>()
  for (const { row, fault } of faults)
    if (!('reason' in fault))
      missing.set(
        row,
        fault.waiting.map((service) => providerOf(service, row, all, provides)),
      )
  const faulty = new Set(faults.map(({ row }) => row))
  const isRoot = (row: MountedRow) => {
    const rows = missing.get(row) ?? []
    return rows.length === 0 || !rows.every((one) => one !== undefined && faulty.has(one))
  }
  const told = new Set([...faulty].filter(isRoot))
  const followers = new Set<MountedRow>()
  // A circle of rows that wait for each other is never reached: each of them is told on its own.
  for (let before = -1; before !== followers.size; ) {
    before = followers.size
    for (const [row, rows] of missing)
      if (!told.has(row) && rows.every((one) => one !== undefined && (told.has(one) || followers.has(one))))
        followers.add(row)
  }
  return followers
}

/** A row that runs comes before one that is disabled. */
function providerOf(
  service: string,
  self: MountedRow,
  all: readonly MountedRow[],
  provides: Provides,
): MountedRow | undefined {
  const providers = all.filter((other) => other !== self && provides(other.row.name).includes(service))
  return providers.find((other) => other.state !== 'disabled') ?? providers[0]
}

function waitingText(
  services: readonly string[],
  row: MountedRow,
  all: readonly MountedRow[],
  provides: Provides,
): string {
  if (services.length === 0) return 'waiting for a service'
  const parts = services.map((service) => `${service}${providerHint(service, row, all, provides)}`)
  return `waiting for service${services.length === 1 ? '' : 's'} ${parts.join(', ')}`
}

function providerHint(service: string, self: MountedRow, all: readonly MountedRow[], provides: Provides): string {
  const provider = providerOf(service, self, all, provides)
  if (provider === undefined) return ' — no row of this composition provides it'
  const fault = rowFault(provider)
  const state =
    provider.state === 'disabled'
      ? 'is disabled'
      : fault === undefined
        ? 'runs in another realm'
        : 'reason' in fault
          ? 'failed'
          : 'is waiting itself'
  return ` — provided by row ${provider.row.id}, which ${state}`
}

/** The file that brought the row, then those that changed it, and where. */
function layersOf(composition: Composition, row: RowNode): string {
  const origin = composition.layers[row.origin.layer]
  const touched = row.touches.map(({ layer, line }) => {
    const label = composition.layers[layer]?.label
    return label === undefined || line === undefined ? label : `${label}:${line}`
  })
  const labels = [origin?.label, ...touched].filter((label): label is string => label !== undefined)
  return [...new Set(labels)].join(', ')
}

/** A skipped patch as boot and dump print it. */
export function skipText({ layer, message, line }: Composition['skips'][number]): string {
  return `[${layer.label}] ${message}${line === undefined ? '' : ` (line ${line})`}`
}
