import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fsContract } from '@dsh/testkit/fs-contract'
import { createLocalFs } from '../src/index.ts'

fsContract('fs-local', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-fs-')))
  const root = join(top, 'w')
  const fs = createLocalFs({ stateDir: join(top, 'state') })
  return { fs, root: mkdirAt(root), dispose: () => rmSync(top, { recursive: true, force: true }) }
})

function mkdirAt(path: string): string {
  return realpathSync(mkdtempSync(`${path}-`))
}
