import { existsSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface PackageCaches {
  /** Writable for confined commands. */
  readonly directory: string
  readonly env: { readonly [name: string]: string }
}

/**
 * Package managers fail when they cannot write to their caches, and a cache that commands may write to would hand what
 * they put there to the person's own builds. So confined commands share caches of their own.
 */
const places: Readonly<Record<string, string>> = {
  npm_config_cache: 'npm',
  YARN_CACHE_FOLDER: 'yarn',
  YARN_GLOBAL_FOLDER: 'yarn-global',
  BUN_INSTALL_CACHE_DIR: 'bun',
  DENO_DIR: 'deno',
  PIP_CACHE_DIR: 'pip',
  UV_CACHE_DIR: 'uv',
  POETRY_CACHE_DIR: 'poetry',
  PRE_COMMIT_HOME: 'pre-commit',
  CARGO_HOME: 'cargo',
  GOCACHE: 'go-build',
  GOMODCACHE: 'go-mod',
  GRADLE_USER_HOME: 'gradle',
  COMPOSER_CACHE_DIR: 'composer',
  NUGET_PACKAGES: 'nuget',
  CCACHE_DIR: 'ccache',
}

/** What lies in such a directory besides the cache, and should go on counting: mirrors, proxies, build settings. */
const settingsOf: Readonly<Record<string, { readonly from: string; readonly files: readonly string[] }>> = {
  cargo: { from: '.cargo', files: ['config.toml', 'config'] },
  gradle: { from: '.gradle', files: ['gradle.properties', 'init.gradle', 'init.d'] },
}

export async function preparePackageCaches(directory: string, userHome: string): Promise<PackageCaches> {
  for (const [place, { from, files }] of Object.entries(settingsOf)) {
    await mkdir(join(directory, place), { recursive: true, mode: 0o700 })
    for (const file of files) {
      const real = join(userHome, from, file)
      if (existsSync(real)) await symlink(real, join(directory, place, file)).catch(() => {})
    }
  }
  const env = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, join(directory, place)]))
  return { directory, env }
}
