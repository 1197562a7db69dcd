import type { Area } from '@dsh/sandbox'

/**
 * The profile that macOS' `sandbox-exec` takes: everything is allowed, then writing is not, then the areas of the policy, of
 * which the last one that holds a path decides. Not run on a Mac yet: no rung uses it.
 */
export function seatbeltProfile(areas: readonly Area[], network: 'shared' | 'none'): string {
  const forms = ['(version 1)', '(allow default)', '(deny file-write*)', '(allow file-write* (literal "/dev/null"))']
  for (const group of groups(areas.filter(({ path, access }) => path !== '/' || access !== 'read'))) {
    const paths = group.map(({ path }) => `(subpath ${quoted(path)})`).join(' ')
    forms.push(`${actions[(group[0] as Area).access]} ${paths})`)
  }
  if (network === 'none') forms.push('(deny network*)')
  return forms.join(' ')
}

export function seatbeltArgv(profile: string, command: readonly string[]): string[] {
  return ['/usr/bin/sandbox-exec', '-p', profile, '--', ...command]
}

const actions = {
  write: '(allow file-write*',
  read: '(deny file-write*',
  none: '(deny file-read* file-write*',
} as const

/** Neighbours with the same access share a form. */
function groups(areas: readonly Area[]): Area[][] {
  const found: Area[][] = []
  for (const area of areas) {
    const last = found.at(-1)
    if (last?.[0]?.access === area.access) last.push(area)
    else found.push([area])
  }
  return found
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
