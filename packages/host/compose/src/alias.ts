const REFERENCE = '@deepseek-ai/dsh-'

/** The reference's package names mean ours: `@deepseek-ai/dsh-tool-fs/x` is `@dsh/tool-fs/x`. */
export function canonicalName(name: string): string {
  return name.startsWith(REFERENCE) ? `@dsh/${name.slice(REFERENCE.length)}` : name
}

/** In a profile's bundle list the reference's `@deepseek-ai/dsh-base` means `@dsh/bundle-base`. */
export function canonicalBundle(name: string): string {
  return name.startsWith(REFERENCE) ? `@dsh/bundle-${name.slice(REFERENCE.length)}` : name
}
