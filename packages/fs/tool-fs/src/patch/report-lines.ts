/** `update src/a.ts`, `move a -> b` */
export function operationName(operation: {
  readonly kind: string
  readonly path: string
  readonly destination?: string | undefined
}): string {
  const to = operation.destination === undefined ? '' : ` -> ${operation.destination}`
  return `${operation.kind} ${operation.path}${to}`
}

/** Further lines of a diagnostic belong to its entry. */
export function indented(diagnostic: string): string {
  return diagnostic.replaceAll('\n', '\n  ')
}
