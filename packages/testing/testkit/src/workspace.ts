import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A file's text or bytes, or an executable, or a link. */
export type FileSpec =
  | string
  | Uint8Array
  | { readonly text: string; readonly mode: number }
  | { readonly link: string }

export interface Workspace {
  /** Absolute and canonical. */
  readonly root: string
  path(...segments: string[]): string
  write(file: string, content: FileSpec): Promise<void>
  read(file: string): Promise<string>
  exists(file: string): Promise<boolean>
  remove(): Promise<void>
}

/** A directory with these files, removed when the test ends (or by `remove`, outside a test). */
export async function tempWorkspace(files: Readonly<Record<string, FileSpec>> = {}): Promise<Workspace> {
  const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'dsh-test-')))
  const at = (...segments: string[]) => path.join(root, ...segments)
  const workspace: Workspace = {
    root,
    path: at,
    write: (file, content) => put(at(file), content),
    read: (file) => readFile(at(file), 'utf8'),
    exists: (file) =>
      stat(at(file)).then(
        () => true,
        () => false,
      ),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
  for (const [file, content] of Object.entries(files)) await workspace.write(file, content)
  atTestEnd(workspace.remove)
  return workspace
}

/** Registers a clean-up with the running test; outside of one the caller cleans up. */
export function atTestEnd(cleanUp: () => Promise<void>): void {
  try {
    onTestFinished(cleanUp)
  } catch {
    // Called from a hook or a script: there is no test to wait for.
  }
}

async function put(file: string, content: FileSpec): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(file, content)
  else if ('link' in content) await symlink(content.link, file)
  else {
    await writeFile(file, content.text)
    await chmod(file, content.mode)
  }
}
