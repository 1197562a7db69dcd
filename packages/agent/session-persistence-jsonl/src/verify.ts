import { errorText } from '@dsh/core'
import { deriveFrom, headerDigest, requestDigest, type SessionEvent, structureProblems, surfaceOf } from '@dsh/session'
import { locateLog } from './locate.ts'
import { readLog } from './read-log.ts'

export interface VerifyReport {
  readonly id: string
  readonly path?: string
  readonly events: number
  /** Requests whose digest in the log was found to be what the log derives to. */
  readonly digests: number
  /** Empty = the log holds. */
  readonly problems: readonly string[]
}

/** Reads a log as a resume would, then holds it against every rule and every digest in it. Changes nothing. */
export async function verifyLog(root: string, id: string): Promise<VerifyReport> {
  try {
    const path = locateLog(root, id)
    if (path === undefined) return { id, events: 0, digests: 0, problems: [`session "${id}" not found`] }
    const { events, dropped } = await readLog({ root, path, id })
    const torn = dropped === undefined ? [] : [`line ${dropped.line} and what follows is torn: ${dropped.why}`]
    const { digests, problems } = verifyDigests(events)
    return { id, path, events: events.length, digests, problems: [...torn, ...structureProblems(events), ...problems] }
  } catch (error) {
    return { id, events: 0, digests: 0, problems: [errorText(error)] }
  }
}

/** Each logged digest against the chain at that point, and the end of the chain against a second derivation. */
export function verifyDigests(events: readonly SessionEvent[]): { digests: number; problems: string[] } {
  const problems: string[] = []
  let digests = 0
  let header: string | undefined
  const surface = surfaceOf([])
  for (const event of events) {
    surface.take(event)
    if (event.type === 'request/header') header = headerDigest(event.data.header, true)
    if (event.type !== 'request/digest') continue
    const now = surface.digest()
    const { count, digest, headerDigest: logged } = event.data
    if (now.count !== count || now.digest !== digest)
      problems.push(`seq ${event.seq} request/digest: the messages before it are not those that were sent`)
    else if (logged !== header)
      problems.push(`seq ${event.seq} request/digest: the header before it is not the one that was sent`)
    else digests++
  }
  const again = requestDigest(deriveFrom(events), { config: {} })
  if (again.digest !== surface.digest().digest) problems.push('two derivations of the log differ')
  return { digests, problems }
}
