export interface SseEvent {
  /** The `event:` field; empty for a plain message. */
  readonly event: string
  readonly data: string
}

export interface SseParser {
  /** The events that the text completes. */
  feed(text: string): SseEvent[]
  /** An event that the end of the stream left without its blank line. */
  end(): SseEvent | undefined
  /** Characters held back for an event that is not complete. */
  readonly pending: number
}

/** Server-sent events as the standard has them: any line ending, several data lines, comments, dispatch on a blank line. */
export function createSseParser(): SseParser {
  let line = ''
  let data: string[] = []
  let dataLength = 0
  let event = ''
  let skipLineFeed = false

  const take = (): SseEvent => {
    const made = { event, data: data.join('\n') }
    data = []
    dataLength = 0
    event = ''
    return made
  }

  const field = (text: string): void => {
    const colon = text.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? text : text.slice(0, colon)
    let value = colon < 0 ? '' : text.slice(colon + 1)
    if (value.startsWith(' ')) value = value.slice(1)
    if (name === 'data') {
      data.push(value)
      dataLength += value.length
    } else if (name === 'event') event = value
  }

  return {
    feed(text) {
      const events: SseEvent[] = []
      let from = 0
      if (skipLineFeed && text.length > 0) {
        if (text.charCodeAt(0) === 10) from = 1
        skipLineFeed = false
      }
      for (let i = from; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code !== 10 && code !== 13) continue
        const whole = line === '' ? text.slice(from, i) : line + text.slice(from, i)
        line = ''
        if (code === 13) {
          if (i + 1 === text.length) skipLineFeed = true
          else if (text.charCodeAt(i + 1) === 10) i++
        }
        from = i + 1
        if (whole !== '') field(whole)
        else if (data.length > 0) events.push(take())
        else event = ''
      }
      line += text.slice(from)
      return events
    },
    end() {
      if (line !== '') field(line)
      line = ''
      return data.length > 0 ? take() : undefined
    },
    get pending() {
      return line.length + dataLength
    },
  }
}
