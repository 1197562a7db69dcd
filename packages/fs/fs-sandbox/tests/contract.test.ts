import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalFs } from '@dsh/fs-local'
import { fsContract } from '@dsh/testkit/fs-contract'
import { fenced } from '../src/fence.ts'
import { policiesOf } from './policies.ts'

fsContract('fs-sandbox', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-fence-')))
  const root = join(top, 'w')
  mkdirSync(root)
  const fs = fenced(createLocalFs({ stateDir: join(top, 'state') }), policiesOf('workspace-write', root))
  return { fs, root, dispose: () => rmSync(top, { recursive: true, force: true }) }
})
