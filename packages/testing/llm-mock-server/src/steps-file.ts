import * as z from 'zod'
import { behaviours } from './behaviours.ts'
import type { MockStep } from './server.ts'

const text = z.string()
const count = z.number().int().nonnegative()
const behaviourNames = ['random', ...Object.keys(behaviours)] as const

const answer = z.strictObject({
  reasoning: text.optional(),
  text: text.optional(),
  calls: z.array(z.strictObject({ name: text.min(1), args: z.unknown(), id: text.optional() })).optional(),
  finish: text.optional(),
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count }).optional(),
  chunkSize: count.min(1).optional(),
  delayMs: count.optional(),
})

/** The key that tells the kind of a step; without one it is an ordinary answer. */
const kinds = {
  behaviour: z.strictObject({ behaviour: z.enum(behaviourNames), ms: count.optional() }),
  status: z.strictObject({
    status: z.number().int().min(100).max(599),
    headers: z.record(z.string(), text).optional(),
    body: text.optional(),
  }),
  raw: z.strictObject({
    raw: z.array(z.union([text, z.looseObject({})])),
    drop: z.literal(true).optional(),
    stallMs: count.optional(),
  }),
}

/**
 * The steps that a JSON file holds. Throws an `Error` whose message is one line for people: the file, the number of the
 * step and what is wrong with it.
 */
export function parseSteps(json: string, file: string): MockStep[] {
  const fail = (message: string): never => {
    throw new Error(`${file}: ${message}`)
  }
  let steps: unknown
  try {
    steps = JSON.parse(json)
  } catch (error) {
    return fail(`no JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(steps) || steps.length === 0)
    return fail('it must be a list of steps, such as [{"text": "Done."}]')
  for (const [at, step] of steps.entries()) {
    const kind = (Object.keys(kinds) as (keyof typeof kinds)[]).find((key) => isObject(step) && key in step)
    const schema = kind === undefined ? answer : kinds[kind]
    const issue = schema.safeParse(step).error?.issues[0]
    if (issue === undefined) continue
    const place = issue.path.length === 0 ? '' : ` (at ${issue.path.join('.')})`
    const known =
      issue.code === 'unrecognized_keys' && place === '' ? `; it takes ${Object.keys(schema.shape).join(', ')}` : ''
    fail(`step ${at + 1}: ${issue.message}${known}${place}`)
  }
  return steps as MockStep[]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
