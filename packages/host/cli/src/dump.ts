import { dumpJson, dumpYaml } from '@dsh/compose'
import { skipText } from '@dsh/host'
import type { LaunchRequest } from './argv.ts'
import { resolveHome } from './home.ts'
import { composeProfile } from './layers.ts'
import { readProfile, templateNames } from './profile.ts'

/** `--dump-config`: prints the composition and touches nothing. */
export async function dump(request: LaunchRequest): Promise<number> {
  const home = resolveHome()
  const profile = readProfile(home, request.profile ?? (request.print ? 'headless' : defaultProfile()))
  const composition = composeProfile(profile, {
    home,
    cwd: process.cwd(),
    patches: request.patches,
    userFiles: request.dump === 'config' && !request.safe,
  })
  for (const skip of composition.skips) process.stderr.write(`dsh: ${skipText(skip)}\n`)
  process.stdout.write(request.json ? dumpJson(composition) : dumpYaml(composition))
  return request.strict && composition.skips.length > 0 ? 1 : 0
}

/** What a bare `dsh` at a terminal would run. */
export function defaultProfile(): string {
  return templateNames().includes('terminal') ? 'terminal' : 'headless'
}
