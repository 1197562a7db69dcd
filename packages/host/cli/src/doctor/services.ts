import { join } from 'node:path'
import { type Composition, type RowNode, walkRows } from '@dsh/compose/core'
import type { Context } from '@dsh/cordis'
import { errorText } from '@dsh/core'
import type {} from '@dsh/credentials-local'
import { boot, type DoctorCheck, type DoctorEnv, type DoctorFinding } from '@dsh/host'
import type {} from '@dsh/subprocess'
import { layerEnvironment } from '../environment.ts'
import { composeProfile } from '../layers.ts'
import { moduleLoader } from '../load-module.ts'
import { readProfile } from '../profile.ts'

/** Where the API key comes from; never its value. */
export const credentials: DoctorCheck = async (env) => {
  const check = 'credentials'
  return withRow(env, '@dsh/credentials-local', check, async (ctx) => {
    const reference = 'DEEPSEEK_API_KEY'
    const { configured, source } = await ctx.credentials.describe(reference)
    if (configured) return [{ check, status: 'ok', text: `${reference} from ${sourceText(source ?? 'env', env)}` }]
    return [
      { check, status: 'fail', text: `${reference} is not set`, remedy: `run "dsh login", or export ${reference}` },
    ]
  })
}

function sourceText(source: 'env' | 'file' | 'project-env' | 'user-env', { home, cwd }: DoctorEnv): string {
  const places = {
    env: 'the environment',
    file: join(home, '.credentials.yaml'),
    'project-env': join(cwd, '.env'),
    'user-env': join(home, '.env'),
  }
  return places[source]
}

/** Which variables no command sees. */
export const environment: DoctorCheck = async (env) => {
  const check = 'environment'
  return withRow(env, '@dsh/subprocess-local', check, async (ctx) => {
    const names = ctx.subprocess.scrubbed()
    const text = names.length === 0 ? 'nothing to keep from commands' : `kept from commands: ${names.join(', ')}`
    return [{ check, status: 'ok', text }]
  })
}

/** Runs one row of the headless profile by itself, as the user's files shape it. */
export async function withRow(
  { home, cwd, env }: DoctorEnv,
  name: string,
  check: string,
  look: (ctx: Context) => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    const { composition, dir } = await composed(home, cwd)
    const row = [...walkRows(composition.rows)].find((candidate) => candidate.name === name)
    if (row === undefined) return [{ check, status: 'note', text: `no row of ${name} in profile headless` }]
    const host = await boot({
      composition: { ...composition, rows: [alone(row)] },
      load: moduleLoader(dir),
      provides: () => [],
      args: [],
      environment: environmentOf(home, cwd, env),
      homePath: (...segments) => join(home, ...segments),
      logLevel: 'silent',
      stderr: () => {},
      exit: (code) => process.exit(code),
    })
    try {
      return await look(host.ctx)
    } finally {
      host.shutdown.request(0)
      await host.shutdown.done
    }
  } catch (error) {
    return errorText(error)
      .split('\n')
      .map((text) => ({ check, status: 'fail' as const, text, remedy: remedyIn(text) }))
  }
}

/** Some messages say themselves what to do. */
function remedyIn(text: string): string {
  return /run "([^"]+)"/.exec(text)?.[1] ?? 'correct the file that the message names'
}

/** The user's composition, or the bundles' where the user's cannot be read. */
async function composed(home: string, cwd: string): Promise<{ composition: Composition; dir: string }> {
  try {
    const profile = readProfile(home, 'headless')
    return { composition: await composeProfile(profile, { home, cwd, patches: [], scope: 'all' }), dir: profile.dir }
  } catch {
    const profile = readProfile(home, 'headless', 'template')
    return {
      composition: await composeProfile(profile, { home, cwd, patches: [], scope: 'bundles' }),
      dir: profile.dir,
    }
  }
}

function alone(row: RowNode): RowNode {
  const { inject: _needs, ...fields } = row.fields
  return { ...row, fields }
}

function environmentOf(home: string, cwd: string, env: NodeJS.ProcessEnv) {
  try {
    return layerEnvironment({ env: { ...env }, cwd, home, warn: () => {} })
  } catch {
    return layerEnvironment({ env: { ...env }, cwd: '/', home: '/', warn: () => {} })
  }
}
