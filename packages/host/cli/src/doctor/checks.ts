import type { DoctorCheck } from '@dsh/host'
import { envFiles, home } from './home.ts'
import { firstProcess, images, node, proxies, ripgrep, terminal } from './machine.ts'
import { profiles } from './profiles.ts'
import { rows } from './rows.ts'
import { sandbox } from './sandbox.ts'
import { credentials, environment } from './services.ts'

/** In the order of the report. */
export const checks: readonly DoctorCheck[] = [
  node,
  firstProcess,
  home,
  envFiles,
  credentials,
  sandbox,
  ripgrep,
  images,
  environment,
  proxies,
  terminal,
  profiles,
  rows,
]
