import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FsInfo, FsVersion } from '@dsh/fs'

/** Everything the kernel changes when a file changes. */
export function versionOf(stat: BigIntStats): FsVersion {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
}

export function infoOf(stat: BigIntStats): FsInfo {
  return {
    version: versionOf(stat),
    type: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
    size: Number(stat.size),
    links: Number(stat.nlink),
  }
}

export function contentHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

const capacity = 8192

/**
 * The content hash that each seen version had. A version that differs while the bytes are the same is fresh
 * (`touch`, `chmod`, an editor that saved the same text); equal versions with other bytes are not, which a coarse
 * clock and a reused inode can produce.
 */
export class SeenContents {
  readonly hashes = new Map<string, string>()

  remember(key: string, version: FsVersion, hash: string): void {
    const id = `${key}\0${version}`
    this.hashes.delete(id)
    this.hashes.set(id, hash)
    if (this.hashes.size > capacity) this.hashes.delete(this.hashes.keys().next().value as string)
  }

  hashOf(key: string, version: FsVersion): string | undefined {
    return this.hashes.get(`${key}\0${version}`)
  }
}
