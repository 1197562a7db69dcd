import type { Composition, RowNode } from '@dsh/compose/core'
import { allMounted, type MountedRow, rowFault } from './mount.ts'

/** Which services a package provides, as far as it is known without loading it. */
export type Provides = (name: string) => readonly string[]

/**
 * One line per row that should run and does not: the row, its package, its layer, the reason. Rows that failed by
 * themselves come before those that wait, for they may be why.
 */
export function audit(composition: Composition, mounted: readonly MountedRow[], provides: Provides): string[] {
  const all = [...allMounted(mounted)]
  const faults = all.flatMap((row) => {
    const fault = rowFault(row)
    return fault === undefined ? [] : [{ row, fault }]
  })
  const failed = faults.filter(({ fault }) => 'reason' in fault)
  const waiting = faults.filter(({ fault }) => !('reason' in fault))
  return [...failed, ...waiting].map(({ row, fault }) => {
    const reason = 'reason' in fault ? fault.reason : waitingText(fault.waiting, row, all, provides)
    return `row ${row.row.id} (${row.row.name}, ${layersOf(composition, row.row)}): ${reason}`
  })
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
  const providers = all.filter((other) => other !== self && provides(other.row.name).includes(service))
  const provider = providers.find((other) => other.state !== 'disabled') ?? providers[0]
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

/** The file that brought the row, then those that changed it. */
function layersOf(composition: Composition, row: RowNode): string {
  const origin = composition.layers[row.origin.layer]
  const touched = row.touches.map((say) => composition.layers[say.layer]?.label)
  const labels = [origin?.label, ...touched].filter((label): label is string => label !== undefined)
  return [...new Set(labels)].join(', ')
}

/** A skipped patch as boot and dump print it. */
export function skipText({ layer, message, line }: Composition['skips'][number]): string {
  return `[${layer.label}] ${message}${line === undefined ? '' : ` (line ${line})`}`
}
