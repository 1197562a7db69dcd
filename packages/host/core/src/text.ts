/** The longest prefix of `text` within `maxBytes` of UTF-8, never splitting a code point. */
export function cutUtf8End(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  let end = maxBytes
  while (end > 0 && isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

/** The longest suffix of `text` within `maxBytes` of UTF-8, never splitting a code point. */
export function cutUtf8Start(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - maxBytes
  while (start < bytes.length && isContinuation(bytes[start])) start++
  return bytes.toString('utf8', start)
}

/** `text.slice(0, maxUnits)` in UTF-16 units, one less where that would split a surrogate pair. */
export function sliceCodePoints(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  const last = text.charCodeAt(maxUnits - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxUnits - 1 : maxUnits)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
