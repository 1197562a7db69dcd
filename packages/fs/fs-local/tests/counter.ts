/** A number in a form that shows any torn or mixed content. */
export function renderCounter(value: number): string {
  return `${value}\n`.repeat(2000)
}

export function parseCounter(text: string): number {
  const value = Number(text.slice(0, text.indexOf('\n')))
  if (text !== renderCounter(value)) throw new Error('torn read')
  return value
}
