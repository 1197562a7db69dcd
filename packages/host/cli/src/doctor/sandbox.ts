import type { DoctorCheck, DoctorFinding } from '@dsh/host'
import type { SandboxReport } from '@dsh/sandbox'
import { withRow } from './services.ts'

/** Each rung of the ladder, the one that confines commands here with what it leaves open, and what bounds resources. */
export const sandbox: DoctorCheck = async (env) =>
  withRow(env, '@dsh/sandbox-local', 'sandbox', async (ctx) => sandboxFindings(await ctx.sandbox.report({ all: true })))

export function sandboxFindings(report: SandboxReport): DoctorFinding[] {
  return [...report.tried.map(rungFinding), chosenFinding(report), resourcesFinding(report.limits)]
}

function rungFinding({ rung, usable, detail }: SandboxReport['tried'][number]): DoctorFinding {
  const check = `sandbox ${rung}`
  if (usable) return { check, status: detail === 'usable' ? 'ok' : 'note', text: detail }
  const remedy = remedyFor(rung, detail)
  return { check, status: 'note', text: `not usable: ${detail}`, ...(remedy === undefined ? {} : { remedy }) }
}

function chosenFinding({ rung, enforcement, notCovered }: SandboxReport): DoctorFinding {
  const check = 'sandbox'
  if (rung === undefined)
    return {
      check,
      status: 'fail',
      text: 'no rung is usable: commands are refused',
      remedy:
        process.platform === 'linux'
          ? 'install bubblewrap; in a container of your own DSH_PERMISSION_MODE=danger-full-access does without'
          : 'confinement for this system is untested and not used yet; DSH_PERMISSION_MODE=danger-full-access does without',
    }
  const gaps = notCovered.length === 0 ? '' : `; not covered: ${notCovered.join(', ')}`
  return { check, status: enforcement === 'full' ? 'ok' : 'note', text: `${rung}, ${enforcement}${gaps}` }
}

function resourcesFinding(limits: string | undefined): DoctorFinding {
  const text = limits ?? 'not limited'
  return { check: 'resources', status: text === 'not limited' ? 'note' : 'ok', text }
}

/** What a person can do about a rung, from what it said. */
export function remedyFor(rung: string, detail: string): string | undefined {
  if (rung === 'landlock')
    return /not enforced/.test(detail) ? 'boot a kernel with Landlock (5.13 or later, lsm=landlock,…)' : undefined
  if (rung !== 'bwrap') return undefined
  if (/not installed/.test(detail)) return 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap)'
  if (/mount(ing)? proc/i.test(detail))
    return 'this container hides parts of /proc: start it with --security-opt systempaths=unconfined'
  if (/namespace|uid map|permission denied|not permitted/i.test(detail))
    return 'allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0 or kernel.unprivileged_userns_clone=1; in a container, --security-opt seccomp=unconfined'
  return undefined
}
