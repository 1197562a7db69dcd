import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scrub } from '../src/environment.ts'
import { findExecutable } from '../src/executables.ts'

describe('the environment of children', () => {
  it('loses what looks like a secret and what belongs to the harness, and names it', () => {
    const { env, removed } = scrub({
      MY_API_KEY: '1',
      db_password: '1',
      APP_SECRET: '1',
      GH_TOKEN: '1',
      SIGNING_PASSPHRASE: '1',
      registry_credential_file: '1',
      DSH_FOO: '1',
      dsh_bar: '1',
      PATH: '/bin',
      LANG: 'C',
    })
    expect(env).toEqual({ PATH: '/bin', LANG: 'C' })
    expect(removed).toEqual([
      'APP_SECRET',
      'DSH_FOO',
      'GH_TOKEN',
      'MY_API_KEY',
      'SIGNING_PASSPHRASE',
      'db_password',
      'dsh_bar',
      'registry_credential_file',
    ])
  })

  it('keeps the published exceptions, by exact name only', () => {
    const { env } = scrub({ TOKENIZERS_PARALLELISM: 'false', GIT_CONFIG_KEY_0: 'user.name', MY_KEYTIMEOUT: '1' })
    expect(Object.keys(env)).toEqual(['TOKENIZERS_PARALLELISM', 'GIT_CONFIG_KEY_0'])
  })
})

describe('the search for an executable', () => {
  const root = mkdtempSync(join(tmpdir(), 'dsh-path-'))
  const plant = (...parts: string[]) => {
    const dir = join(root, ...parts)
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'tool'), '#!/bin/sh\n', { mode: 0o755 })
    return dir
  }
  const good = plant('good')

  it('skips node_modules/.bin, roots to avoid, relative and world-writable directories', () => {
    const bin = plant('ws', 'node_modules', '.bin')
    const inside = plant('ws', 'tools')
    const open = plant('open')
    chmodSync(open, 0o777)
    expect(findExecutable('tool', [bin, inside, open, 'relative', good].join(':'), [join(root, 'ws')])).toBe(
      join(good, 'tool'),
    )
    expect(findExecutable('tool', bin, [])).toBeUndefined()
  })

  it('sees through a symlink into a root to avoid', () => {
    const inside = plant('ws2')
    const link = join(root, 'link')
    symlinkSync(inside, link)
    expect(findExecutable('tool', [link, good].join(':'), [inside])).toBe(join(good, 'tool'))
  })
})
