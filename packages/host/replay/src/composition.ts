import type { ReplayProvider, Route } from './catalogue.ts'
import type { FixtureInput } from './fixture.ts'
import type { Step } from './steps.ts'

export interface DriverPlan {
  readonly steps: readonly Step[]
  readonly route?: Route
  readonly resume?: string
  readonly answers?: FixtureInput['permissionAnswers']
  readonly narrate: boolean
}

export interface ReplayRow {
  readonly id: string
  readonly name: string
}

export interface PlayedModel {
  readonly file: string
  readonly childFiles?: readonly string[]
  readonly override?: string
  readonly holdUnfinished: boolean
  readonly paceMs?: number
  readonly providers: readonly ReplayProvider[]
}

/**
 * The profile `headless` as a replay: the driver in the place of the runner, and (except when recording) the
 * transcript in the place of the model. A patch file; JSON is YAML.
 */
export function replayPatch(plan: DriverPlan, model: PlayedModel | undefined, more: readonly ReplayRow[] = []): string {
  const rows: object[] = [...more, { id: 'replay-driver', name: '@dsh/replay/driver', config: plan }]
  const patches: object[] = [
    { id: 'headless-startup', disabled: true },
    { id: 'headless-runner', disabled: true },
    ...(plan.route === undefined ? [] : [{ id: 'agent-default-model', config: plan.route }]),
  ]
  if (model !== undefined) {
    patches.push({ id: 'llm-deepseek', disabled: true })
    rows.push({ id: 'llm-replay', name: '@dsh/llm-replay', config: model })
  }
  return `${JSON.stringify([...patches, { insert: rows }], null, 1)}\n`
}
