import { constants } from 'node:fs'
import { access, cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

/** The place of one run: a home nobody has, a copy of the workspace, and the script. */
export interface Scratch {
  readonly root: string
  readonly home: string
  readonly workspace: string
  readonly script: string
  readonly patch: string
  remove(): Promise<void>
}

export async function makeScratch(options: { readonly at?: string; readonly workspace?: string }): Promise<Scratch> {
  const root = await realpath(options.at ?? (await mkdtemp(path.join(await shortTemp(), 'dsh-replay-'))))
  const workspace = path.join(root, 'w')
  if (options.workspace === undefined) await mkdir(workspace, { recursive: true })
  else await cp(options.workspace, workspace, { recursive: true, verbatimSymlinks: true })
  await mkdir(path.join(root, 'home'), { recursive: true })
  await mkdir(path.join(root, 'user'), { recursive: true })
  return {
    root,
    home: path.join(root, 'home'),
    workspace,
    script: path.join(root, 'script.jsonl'),
    patch: path.join(root, 'replay.patch.yml'),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Always a path of the same length where there is one: results that are cut at a byte count then end alike. */
async function shortTemp(): Promise<string> {
  const writable =
    process.platform === 'linux' &&
    (await access('/tmp', constants.W_OK).then(
      () => true,
      () => false,
    ))
  return writable ? '/tmp' : os.tmpdir()
}

/** The caller's environment without what would change the session: product variables, keys, locale, colours. */
export function scratchEnv(
  scratch: Scratch,
  parent: NodeJS.ProcessEnv,
  extra: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(parent).filter(
    ([name]) => !/^(DSH_|DEEPSEEK_|NODE_OPTIONS$|NODE_TEST_CONTEXT$|npm_|LC_|VITEST)/.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    HOME: path.join(scratch.root, 'user'),
    DSH_HOME: scratch.home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NO_COLOR: '1',
    ...extra,
  }
}
