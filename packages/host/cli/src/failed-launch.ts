import { type Composition, walkRows } from '@dsh/compose/core'
import { errorCode, errorText, isDshError } from '@dsh/core'
import type { LaunchRequest } from './argv.ts'
import { reportFailure } from './failure.ts'

/** Tells what kept a profile from running: on stderr, and on stdout where a result document was asked for. */
export async function failedLaunch(
  error: unknown,
  request: LaunchRequest,
  composition: Composition | undefined,
): Promise<number> {
  const code = reportFailure(error)
  if (isHeadless(request, composition)) {
    const message = isDshError(error) ? error.message : errorText(error)
    await writeDocument(request, { code: errorCode(error) ?? 'UNKNOWN', message })
  }
  return code
}

/** What stdout carries where a document was asked for and nothing ran that would write it. */
export async function writeDocument(
  request: LaunchRequest,
  fault: { readonly code: string; readonly message: string },
): Promise<void> {
  const { failedStart } = await import('@dsh/headless/startup')
  const document = await failedStart(request.args, fault)
  if (document !== '') process.stdout.write(document)
}

/** The composition says it; where there is none, the name of the profile does. */
function isHeadless({ print, profile }: LaunchRequest, composition: Composition | undefined): boolean {
  if (print || profile === 'headless') return true
  return (
    composition !== undefined && [...walkRows(composition.rows)].some(({ name }) => name === '@dsh/headless/startup')
  )
}
