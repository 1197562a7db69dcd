import type { RowNode } from '@dsh/compose/core'
import type { Context } from '@dsh/cordis'
import { type MountedRow, type MountOptions, type PreparedRow, prepareRow, rowFault } from './mount.ts'

/** What becomes of one place in the list. */
type Step =
  | { readonly kind: 'keep'; readonly mounted: MountedRow }
  | { readonly kind: 'start'; readonly prepared: PreparedRow }
  | { readonly kind: 'descend'; readonly mounted: MountedRow; readonly row: RowNode; readonly plan: Plan }

export interface Plan {
  readonly steps: readonly Step[]
  /** Rows that have to go, here and in the groups below. */
  readonly removals: readonly MountedRow[]
  /** What kept a row from being prepared. */
  readonly faults: readonly unknown[]
}

/**
 * Compares the running rows with the wanted ones. Rows that are the same and run stay untouched; all others are
 * prepared, and nothing is stopped or started yet.
 */
export async function planRows(
  ctx: Context,
  current: readonly MountedRow[],
  wanted: readonly RowNode[],
  options: MountOptions,
): Promise<Plan> {
  const running = new Map(current.map((mounted) => [mounted.row.id, mounted]))
  const steps = await Promise.all(wanted.map((row) => stepFor(ctx, running.get(row.id), row, options)))
  const staying = new Set(steps.flatMap((step) => (step.kind === 'start' ? [] : [step.mounted])))
  const below = steps.flatMap((step) => (step.kind === 'descend' ? [step.plan] : []))
  const faults = steps.flatMap((step) => (step.kind === 'start' && step.prepared.fault ? [step.prepared.fault] : []))
  return {
    steps,
    removals: [...current.filter((mounted) => !staying.has(mounted)), ...below.flatMap((plan) => plan.removals)],
    faults: [...faults, ...below.flatMap((plan) => plan.faults)],
  }
}

async function stepFor(
  ctx: Context,
  mounted: MountedRow | undefined,
  row: RowNode,
  options: MountOptions,
): Promise<Step> {
  if (mounted !== undefined && mounted.row.name === row.name && sameValue(mounted.row.fields, row.fields)) {
    const healthy = rowFault(mounted) === undefined
    if (row.children === undefined && mounted.row.children === undefined && healthy) return { kind: 'keep', mounted }
    if (row.children !== undefined && mounted.children !== undefined && mounted.fiber !== undefined && healthy) {
      const plan = await planRows(mounted.fiber.ctx, mounted.children, row.children, options)
      return { kind: 'descend', mounted, row, plan }
    }
  }
  return { kind: 'start', prepared: await prepareRow(ctx, row, options) }
}

/** Stops what has to go, all of it, then starts what is new, in list order. */
export async function executePlan(ctx: Context, plan: Plan, closing: () => boolean): Promise<MountedRow[]> {
  await Promise.allSettled(plan.removals.map((mounted) => mounted.fiber?.dispose()))
  return startSteps(ctx, plan, closing)
}

async function startSteps(ctx: Context, plan: Plan, closing: () => boolean): Promise<MountedRow[]> {
  const rows: MountedRow[] = []
  for (const step of plan.steps) {
    if (closing()) break
    if (step.kind === 'keep') rows.push(step.mounted)
    else if (step.kind === 'start') rows.push(await step.prepared.start(ctx))
    else {
      const children = await startSteps(
        (step.mounted.fiber as NonNullable<MountedRow['fiber']>).ctx,
        step.plan,
        closing,
      )
      rows.push({ ...step.mounted, row: step.row, children })
    }
  }
  return rows
}

/** Deep equality of what a file wrote; expressions are equal when their text is. */
function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
