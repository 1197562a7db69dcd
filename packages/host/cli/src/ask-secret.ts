import { text } from 'node:stream/consumers'
import { DshError } from '@dsh/core'

/** One secret from the person: typed without echo at a terminal, or all of a piped stdin. */
export async function askSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin)
  process.stderr.write(prompt)
  try {
    return await typed()
  } finally {
    process.stderr.write('\n')
  }
}

/** Reads keys in raw mode up to Enter; Ctrl-C and Ctrl-D on nothing give up. */
function typed(): Promise<string> {
  const { stdin } = process
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  return new Promise((resolve, reject) => {
    let line = ''
    const end = (settle: () => void) => {
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
      settle()
    }
    const onData = (chunk: string) => {
      for (const key of chunk) {
        if (key === '\r' || key === '\n') return end(() => resolve(line))
        if (key === '\x03' || (key === '\x04' && line === '')) {
          return end(() => reject(new DshError('LOGIN', 'given up; nothing was stored')))
        }
        if (key === '\x7f' || key === '\b') line = [...line].slice(0, -1).join('')
        else if (key === '\x15') line = ''
        else if (key >= ' ') line += key
      }
    }
    stdin.on('data', onData)
  })
}
