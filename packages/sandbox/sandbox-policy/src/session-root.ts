import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * The permission root of each session: the real path of its first spelling, found once. Commands may rename what lies
 * above a workspace in a shared temporary directory and put a link in its place; a root that was looked up again at
 * every call would follow it out.
 */
export function sessionRoots(): (owner: object, spelled: string) => string {
  const roots = new WeakMap<object, string>()
  return (owner, spelled) => {
    const known = roots.get(owner)
    if (known !== undefined) return known
    let root: string
    try {
      root = realpathSync.native(spelled)
    } catch {
      return resolve(spelled)
    }
    roots.set(owner, root)
    return root
  }
}
