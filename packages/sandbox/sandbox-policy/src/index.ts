import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Context } from '@dsh/cordis'
import { lazySchema } from '@dsh/core'
import type {} from '@dsh/host'
import { canonical, type SandboxMode, type SandboxPolicy, type SandboxPolicyService, sandboxModes } from '@dsh/sandbox'
import type { Session } from '@dsh/session'
import type {} from '@dsh/system-prompt'
import * as z from 'zod'
import { gitDirsOf } from './git-dirs.ts'
import { type PolicyStance, policyText } from './policy-text.ts'
import { sessionMode } from './session-mode.ts'
import { sessionRoots } from './session-root.ts'

export const name = 'sandbox-policy'

export const Config = lazySchema(() =>
  z.strictObject({
    mode: z.enum(sandboxModes).default('read-only'),
    workspaceRoot: z.string().min(1).optional(),
    network: z.enum(['shared', 'none']).default('shared'),
    /** Directories that workspace-write may change as well. */
    writableRoots: z.array(z.string().min(1)).default([]),
    /** Paths that stay read-only inside the workspace. */
    protectedPaths: z.array(z.string().min(1)).default([]),
    /** Paths that file tools and commands do not read. */
    denyRead: z.array(z.string().min(1)).default([]),
  }),
)

interface PolicyRequest {
  readonly session?: Session
  readonly mode?: SandboxMode
}

/** Files below the home that hold keys. */
const credentialFiles = ['.credentials.yaml', '.env']

export async function apply(ctx: Context, config: z.output<typeof Config>): Promise<void> {
  const configuredRoot = config.workspaceRoot ?? process.cwd()
  const rootOf = sessionRoots()
  const home = ctx.get('dshHomePath')
  const homeDirectory = home === undefined ? undefined : canonical(home())

  function resolveStance({ session, mode }: PolicyRequest): PolicyStance {
    return {
      mode: mode ?? (session && service.overrideOf(session)) ?? config.mode,
      workspaceRoot: rootOf(session ?? config, session?.header.cwd ?? configuredRoot),
      network: config.network,
    }
  }

  function resolvePolicy(request: PolicyRequest = {}): SandboxPolicy {
    const { session } = request
    const stance = resolveStance(request)
    const { workspaceRoot } = stance
    const git = gitDirsOf(workspaceRoot)
    const here = (path: string) => canonical(resolve(workspaceRoot, expandHome(path)))
    return {
      ...stance,
      ...(session === undefined ? {} : { sessionId: session.id }),
      writableRoots: [...config.writableRoots.map(here), ...(git?.writable ?? [])],
      protectedPaths: [
        ...(homeDirectory === undefined ? [] : [homeDirectory]),
        ...config.protectedPaths.map(here),
        ...(git?.protected ?? []),
      ],
      hiddenPaths: [
        ...(homeDirectory === undefined ? [] : credentialFiles.map((file) => canonical(join(homeDirectory, file)))),
        ...config.denyRead.map(here),
      ],
    }
  }

  const service: SandboxPolicyService = {
    defaultMode: config.mode,
    workspaceRoot: rootOf(config, configuredRoot),
    resolve: resolvePolicy,
    overrideOf: (session) => session.fold(sessionMode),
  }
  ctx.provide('sandboxPolicy', service)

  ctx.inject(['systemPrompt'], (inner) => {
    inner.systemPrompt.context({
      name: 'sandbox:policy',
      order: 110,
      text: (agent) => policyText(resolveStance({ session: agent.session })),
    })
  })
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}
