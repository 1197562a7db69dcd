import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  deniedMarker,
  escalationHint,
  escalationParameters,
  isSandboxMode,
  isWider,
  sandboxModes,
  sandboxUnavailable,
} from '../src/index.ts'

const shared = process.env['DSH_SHARED'] ?? join(fileURLToPath(new URL('../../../..', import.meta.url)), '../shared')
const schemas = join(shared, 'data/reference-logs/text-turn/tool-schemas.expected.json')

it('only a mode further right is wider', () => {
  const wider = sandboxModes.flatMap((from) => sandboxModes.filter((to) => isWider(from, to)).map((to) => [from, to]))
  expect(wider).toEqual([
    ['read-only', 'workspace-write'],
    ['read-only', 'danger-full-access'],
    ['workspace-write', 'danger-full-access'],
  ])
  expect(['', 'full', null].filter(isSandboxMode)).toEqual([])
})

it('denial and hint are the words that the tool descriptions teach', () => {
  expect(deniedMarker('read-only')).toBe('[sandbox: file access denied under read-only mode]')
  expect(escalationHint('operation')).toBe(
    '[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]',
  )
})

it('a refusal names the mode, the remedies and the failure of the runner on one line', () => {
  const error = sandboxUnavailable('read-only', { detail: 'bwrap: boom' })
  expect(error.code).toBe('SANDBOX_UNAVAILABLE')
  expect(error.name).toBe('SandboxUnavailableError')
  expect(error.message).toMatch(
    /^sandbox mode "read-only" is requested but no sandbox backend is usable .* danger-full-access\. Runner failure: bwrap: boom$/,
  )
})

it.skipIf(!existsSync(schemas))('the two fields are those of the reference, and ask for the user’s language', () => {
  const { initial } = JSON.parse(readFileSync(schemas, 'utf8')) as {
    initial: { name: string; parameters: { properties: Record<string, { description: string }> } }[]
  }
  for (const [tool, noun] of [
    ['bash', 'command'],
    ['edit', 'operation'],
  ] as const) {
    const theirs = initial.find(({ name }) => name === tool)?.parameters.properties ?? {}
    const ours = escalationParameters(noun)
    expect(ours.sandbox_permissions).toEqual(theirs['sandbox_permissions'])
    expect(ours.justification.description).toBe(
      theirs['justification']?.description.replace(/\.$/, ", in the language of the user's current request."),
    )
  }
})
