import { errorCode, errorText, isDshError } from '@dsh/core'
import { type FsErrorCode, fsError, fsErrors } from '@dsh/fs'

/** How a system error reads: its words and its code, never the path of a staging file. */
const words: { readonly [errno: string]: readonly [string, FsErrorCode] } = {
  EACCES: ['permission denied', fsErrors.permissionDenied],
  EPERM: ['operation not permitted', fsErrors.permissionDenied],
  EROFS: ['read-only file system', fsErrors.permissionDenied],
  ENOENT: ['not found', fsErrors.notFound],
  EISDIR: ['not a regular file', fsErrors.notRegularFile],
  ENXIO: ['not a regular file', fsErrors.notRegularFile],
  ELOOP: ['too many symbolic links', fsErrors.io],
  ENAMETOOLONG: ['file name too long', fsErrors.io],
  ENOSPC: ['no space left on device', fsErrors.io],
  EDQUOT: ['disk quota exceeded', fsErrors.io],
  EFBIG: ['file too large', fsErrors.io],
  EIO: ['input/output error', fsErrors.io],
  EMFILE: ['too many open files', fsErrors.io],
  ENFILE: ['too many open files', fsErrors.io],
  ETXTBSY: ['the file is being executed', fsErrors.io],
}

export function errnoWords(error: unknown): string {
  const code = errorCode(error)
  const known = code === undefined ? undefined : words[code]
  return known?.[0] ?? plainText(error)
}

/** `cannot <verb> "<shown>": <words>`; an error that already has its words passes through. */
export function namedFault(error: unknown, verb: string, shown: string): Error {
  if (isDshError(error)) return error
  const code = errorCode(error)
  if (code === 'ENOTDIR')
    return fsError(fsErrors.notFound, `cannot resolve "${shown}": a parent path segment is not a directory`, {
      cause: error,
    })
  const known = code === undefined ? undefined : words[code]
  if (known !== undefined) return fsError(known[1], `cannot ${verb} "${shown}": ${known[0]}`, { cause: error })
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error instanceof Error ? error : new Error(String(error))
  return fsError(fsErrors.io, `cannot ${verb} "${shown}": ${plainText(error)}`, { cause: error })
}

/** Node's `EXDEV: cross-device link not permitted, rename 'a' -> 'b'` without the code, the call and the paths. */
function plainText(error: unknown): string {
  const text = errorText(error)
  return /^E[A-Z0-9]+: (.+?)(?:, [a-z]+(?: '|$).*)?$/s.exec(text)?.[1] ?? text
}
