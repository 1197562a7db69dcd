import type { Agent } from '@dsh/agent'
import type { JobsService } from '@dsh/jobs-local'
import { resolveEscalation, type SandboxPolicy, type SandboxPolicyService } from '@dsh/sandbox'
import type { Session } from '@dsh/session'
import type { ShellRequest, ShellService } from '@dsh/shell'
import type { ShellEnvService } from '@dsh/shell-env'
import type { ToolDefinition, ToolExecution } from '@dsh/tools'
import type { ApprovalService } from '@dsh/user-approval'
import { startJob } from './background.ts'
import { describeBash, type Variant } from './description.ts'
import { type BashArgs, bashParameters, checkArgs } from './parameters.ts'
import { renderOutcome } from './render.ts'
import { type BashValue, bashMeta, bashValueSchema } from './value.ts'

/** The services around the tool; the optional ones are asked for at the time of use. */
export interface BashDeps {
  readonly shell: ShellService
  readonly shellEnv: ShellEnvService
  readonly sandboxPolicy: () => SandboxPolicyService | undefined
  readonly approval: () => ApprovalService | undefined
  readonly sessionPath: (session: Session) => string | undefined
  readonly jobs: () => JobsService | undefined
  /** Off: background work is not offered, whatever else is mounted. */
  readonly enableRunInBackground: boolean
}

export function bashTool(deps: BashDeps, variant: Variant): ToolDefinition<BashArgs, BashValue> {
  return {
    name: 'bash',
    description: describeBash(variant),
    parameters: bashParameters(variant),
    nullIsAbsent: true,
    output: {
      schema: bashValueSchema,
      render: (_args, value) => [{ type: 'text', text: renderValue(value, variant) }],
      presentationMeta: (_args, value) => bashMeta(value),
    },
    execute: async (args, exec) => {
      checkArgs(args)
      const policy = await policyOf(deps, variant, args, exec)
      const request = requestOf(deps, args, exec, policy)
      if (args.run_in_background === true) return startJob(deps, variant, request, exec)
      const spec = await deps.shell.resolve({ ...request, signal: exec.signal })
      return { kind: 'foreground', ...(await deps.shell.run(spec)) }
    },
  }
}

function renderValue(value: BashValue, variant: Variant): string {
  return value.kind === 'background' ? `started background job ${value.jobId}` : renderOutcome(value, variant.confined)
}

/** The standing policy, or the wider one that a person allows for this call. */
function policyOf(
  deps: BashDeps,
  variant: Variant,
  args: BashArgs,
  exec: ToolExecution,
): Promise<SandboxPolicy | undefined> {
  const session = exec.agent?.session
  return resolveEscalation({
    args,
    policy: deps.sandboxPolicy()?.resolve(session === undefined ? {} : { session }),
    confines: variant.confined,
    noun: 'command',
    toolName: exec.name,
    callId: exec.callId,
    agent: exec.agent,
    approval: deps.approval(),
    subject: { command: args.command },
    signal: exec.signal,
  })
}

function requestOf(
  deps: BashDeps,
  args: BashArgs,
  exec: ToolExecution,
  policy: SandboxPolicy | undefined,
): ShellRequest {
  const base = startDirectory(exec.agent, policy)
  return {
    command: args.command,
    env: deps.shellEnv.collect(sessionFacts(deps, exec.agent)),
    ...(args.workdir == null ? {} : { workdir: args.workdir }),
    ...(args.timeoutMs == null ? {} : { timeoutMs: args.timeoutMs }),
    ...(base === undefined ? {} : { base }),
    ...(policy === undefined ? {} : { policy }),
  }
}

/** The session's directory: where it moved to, else its root in the resolved form that the policy knows. */
function startDirectory(agent: Agent | undefined, policy: SandboxPolicy | undefined): string | undefined {
  const session = agent?.session
  const moved = session !== undefined && session.cwd !== session.header.cwd
  return moved ? session.cwd : (policy?.workspaceRoot ?? session?.cwd)
}

function sessionFacts(deps: BashDeps, agent: Agent | undefined): { sessionId?: string; sessionPath?: string } {
  if (agent === undefined) return {}
  const { session } = agent
  const sessionPath = deps.sessionPath(session)
  return { sessionId: session.id, ...(sessionPath === undefined ? {} : { sessionPath }) }
}
