import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import { findLauncher } from '@dsh/landlock-run'
import { canonical, isWithin, tempRoots } from '@dsh/sandbox'
import * as z from 'zod'
import { type BwrapRunner, bwrapRung } from './bwrap-rung.ts'
import { findExecutable, trusted } from './find-runner.ts'
import { ladder } from './ladder.ts'
import { type LandlockLauncher, landlockRung } from './landlock-rung.ts'
import { applyLimits, type ResourceLimits } from './limits.ts'
import { type PackageCaches, preparePackageCaches } from './package-caches.ts'
import { type Rung, type RungName, rungNames } from './rung.ts'
import type { SandboxSettings } from './settings.ts'

export const name = 'sandbox-local'

export const Config = lazySchema(() =>
  z.strictObject({
    /** In the order in which they are tried; none = every command is refused. Default: those of this system. */
    rungs: z.array(z.enum(rungNames)).optional(),
    /** What confined commands find at /tmp: the real one, an empty one per call, or one per session. */
    tmp: z.enum(['host', 'fresh', 'session']).default('host'),
    /** Unix sockets that confined commands may use, or directories of such. */
    sockets: z.array(z.string().min(1)).default([]),
    /** Package managers of confined commands: caches below dsh's home, or none of our business. */
    caches: z.enum(['own', 'off']).default('own'),
    /** Bounds on all confined commands together, where the machine can set them. */
    limits: z
      .strictObject({
        pids: z.number().int().positive().default(4096),
        memoryShare: z.number().positive().max(1).default(0.8),
      })
      .prefault({}),
    /** What this deployment knows not to hold; reported with every result. */
    knownGaps: z.array(z.string().min(1)).default([]),
    probeTimeoutMs: z.number().positive().default(5000),
    /** A bubblewrap-compatible command in the place of bubblewrap. */
    runnerCommand: z.array(z.string().min(1)).default([]),
    /** Accepted for older patches. The runner's status decides whether it failed, not what it printed. */
    runnerFailureSignatures: z.array(z.string()).default([]),
  }),
)

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const homePath = ctx.get('dshHomePath')
  const home = homePath === undefined ? undefined : homePath()
  const untrusted = [process.cwd(), ...tempRoots()].filter((root) => root !== '/')
  const settings: SandboxSettings = {
    tmp: config.tmp,
    sockets: config.sockets.map(canonical),
    home: home === undefined ? undefined : canonical(home),
    userHome: canonical(homedir()),
    scratch: probeScratch(home),
    shell: findExecutable('sh', { path: undefined, untrusted: [] })?.path ?? '/bin/sh',
    probeTimeoutMs: config.probeTimeoutMs,
  }

  const make: Record<RungName, () => Rung> = {
    bwrap: () => bwrapRung(findBwrap(config.runnerCommand, untrusted), settings),
    landlock: () => landlockRung(placeLauncher(settings.home, untrusted), settings),
  }
  const rungs = (config.rungs ?? defaultRungs()).map((rung) => make[rung]())
  const cacheDirectory =
    settings.home === undefined || config.caches === 'off' ? undefined : join(settings.home, 'package-cache')
  let prepared: Promise<PackageCaches> | undefined
  const caches = (directory: string) => {
    prepared ??= preparePackageCaches(directory, settings.userHome)
    return prepared
  }
  let limits: ResourceLimits | undefined
  ctx.effect(() => () => limits?.remove())
  ctx.provide(
    'sandbox',
    ladder(rungs, {
      knownGaps: config.knownGaps,
      limits: () => {
        limits ??= applyLimits(config.limits, settings.shell)
        return limits
      },
      ...(cacheDirectory === undefined ? {} : { caches: () => caches(cacheDirectory) }),
    }),
  )
}

/** A probe must try to write where no policy allows it: a home inside a temporary directory will not do. */
function probeScratch(home: string | undefined): string {
  const below = [home, homedir(), '/var/tmp'].filter((path): path is string => path !== undefined)
  const outside = below.find((path) => !tempRoots().some((root) => isWithin(root, canonical(path)))) ?? below[0]
  return join(outside ?? homedir(), outside === home ? 'cache/sandbox' : `.dsh-sandbox-${process.geteuid?.() ?? 0}`)
}

function defaultRungs(): RungName[] {
  return process.platform === 'linux' ? ['bwrap', 'landlock'] : []
}

function findBwrap(configured: readonly string[], untrusted: readonly string[]): BwrapRunner | undefined {
  if (configured.length > 0) return { argv: configured, identity: configured.join(' ') }
  const found = findExecutable('bwrap', { path: process.env['PATH'], untrusted })
  return found === undefined ? undefined : { argv: [found.path], identity: found.identity }
}

/** The shipped launcher, or a copy in dsh's home where dsh itself is installed inside a workspace. */
function placeLauncher(home: string | undefined, untrusted: readonly string[]): LandlockLauncher | undefined {
  const shipped = findLauncher()
  if (shipped === undefined) return undefined
  const inPlace = trusted(shipped.path, untrusted)
  if (inPlace !== undefined || home === undefined) return inPlace
  const copy = join(home, 'cache', `landlock-run-${process.arch}`)
  try {
    mkdirSync(join(home, 'cache'), { recursive: true, mode: 0o700 })
    if (!existsSync(copy) || !readFileSync(copy).equals(shipped.bytes)) {
      const staged = `${copy}.${process.pid}`
      writeFileSync(staged, shipped.bytes)
      chmodSync(staged, 0o755)
      renameSync(staged, copy)
    }
  } catch {
    return undefined
  }
  return trusted(copy, untrusted)
}
