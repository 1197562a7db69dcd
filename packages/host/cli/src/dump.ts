import { dumpJson, dumpYaml } from '@dsh/compose'
import { errorText } from '@dsh/core'
import { skipText } from '@dsh/host'
import type { LaunchRequest } from './argv.ts'
import { openHome } from './home.ts'
import { composeProfile } from './layers.ts'
import { type Profile, readProfile, templateNames } from './profile.ts'

/** `--dump-config`: prints the composition and touches nothing. */
export async function dump(request: LaunchRequest): Promise<number> {
  const home = openHome()
  const profile = profileToDump(home, request)
  const composition = await composeProfile(profile, {
    home,
    cwd: process.cwd(),
    patches: request.patches,
    scope: request.dump === 'default' ? 'bundles' : request.safe ? 'safe' : 'all',
  })
  for (const skip of composition.skips) process.stderr.write(`dsh: ${skipText(skip)}\n`)
  process.stdout.write(request.json ? dumpJson(composition) : dumpYaml(composition))
  return request.strict && composition.skips.length > 0 ? 1 : 0
}

/** The way back from a broken manifest: the bundles' own dump falls back to the template. */
function profileToDump(home: string, request: LaunchRequest): Profile {
  const name = request.profile ?? (request.print ? 'headless' : defaultProfile())
  if (request.safe) return readProfile(home, name, 'template')
  try {
    return readProfile(home, name)
  } catch (error) {
    if (request.dump === 'config' || !templateNames().includes(name)) throw error
    process.stderr.write(`dsh: ${errorText(error)}; showing the template\n`)
    return readProfile(home, name, 'template')
  }
}

/** What a bare `dsh` at a terminal would run. */
export function defaultProfile(): string {
  return templateNames().includes('terminal') ? 'terminal' : 'headless'
}
