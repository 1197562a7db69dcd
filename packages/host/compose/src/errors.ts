import { DshError } from '@dsh/core'

export interface Problem {
  readonly file: string
  /** 1-based; absent when the whole file is meant. */
  readonly line?: number
  readonly message: string
}

/** Everything wrong with a composition, one line per problem. */
export class ComposeError extends DshError {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super('COMPOSITION', problems.map(problemText).join('\n'), { name: 'ComposeError' })
    this.problems = problems
  }
}

export function problemText(problem: Problem): string {
  return `${problem.file}${problem.line === undefined ? '' : `:${problem.line}`}: ${problem.message}`
}
