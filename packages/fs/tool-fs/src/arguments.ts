/** Checks that the schema cannot express. Plain errors: their texts are the whole story. */

export function requirePath(path: string): void {
  if (path.trim() === '') throw new Error('file_path must be a non-empty string')
}

export function requirePositiveInteger(name: string, value: number | undefined): void {
  if (value !== undefined && (!Number.isInteger(value) || value < 1))
    throw new Error(`${name} must be a positive integer`)
}
