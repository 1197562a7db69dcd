import { errorText } from '@dsh/core'
import type { DoctorCheck, DoctorFinding } from '@dsh/host'
import { builtins } from '../builtins.ts'

/** The checks that row packages bring along: a module may export `doctor`. */
export const rows: DoctorCheck = async (env) => {
  const found = await Promise.all(
    Object.entries(builtins).map(async ([name, { load }]): Promise<readonly DoctorFinding[]> => {
      try {
        const module = (await load()) as { doctor?: DoctorCheck }
        return (await module.doctor?.(env)) ?? []
      } catch (error) {
        return [{ check: name, status: 'fail', text: errorText(error), remedy: 'install dsh again' }]
      }
    }),
  )
  return found.flat()
}
