import { errorText } from '@dsh/core'
import { type DoctorCheck, type DoctorFinding, skipText } from '@dsh/host'
import { composeProfile } from '../layers.ts'
import { profileNames, readProfile, templateNames } from '../profile.ts'

/** Every profile composed and checked, nothing started. */
export const profiles: DoctorCheck = async ({ home, cwd }) => {
  const names = [...new Set([...templateNames(), ...profileNames(home)])]
  const findings = await Promise.all(names.map((name) => checkProfile(home, cwd, name)))
  return findings.flat()
}

async function checkProfile(home: string, cwd: string, name: string): Promise<DoctorFinding[]> {
  const check = `profile ${name}`
  try {
    const profile = readProfile(home, name)
    const composition = await composeProfile(profile, { home, cwd, patches: [], scope: 'all' })
    const text = `${composition.rows.length} rows from ${composition.layers.map((layer) => layer.label).join(', ')}`
    const skips = composition.skips.map((skip) => ({ check, status: 'note' as const, text: skipText(skip) }))
    return [{ check, status: 'ok', text: profile.fromTemplate ? `${text} (template)` : text }, ...skips]
  } catch (error) {
    const remedy = `correct it, or see what runs without it: dsh --profile ${name} --safe --dump-config`
    return errorText(error)
      .split('\n')
      .map((text) => ({ check, status: 'fail' as const, text, remedy }))
  }
}
