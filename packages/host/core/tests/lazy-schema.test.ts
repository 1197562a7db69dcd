import { lazySchema } from '@dsh/core'
import { expect, test } from 'vitest'
import * as z from 'zod'

test('a lazy schema is made once, when it is asked for something, and then is what was made', () => {
  let made = 0
  const schema = lazySchema(() => {
    made++
    return z.strictObject({ size: z.int().default(3) })
  })
  expect('~standard' in schema).toBe(true)
  expect(made).toBe(0)
  expect(schema['~standard'].validate({})).toEqual({ value: { size: 3 } })
  expect(schema.parse({ size: 4 })).toEqual({ size: 4 })
  expect(schema instanceof z.ZodObject).toBe(true)
  expect(schema.safeParse({ size: 'x' }).success).toBe(false)
  expect(made).toBe(1)
})
