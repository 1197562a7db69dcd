import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'

const maxEntries = 1000

/** The prompts typed in earlier sessions, oldest first, from a JSON-lines file that only its owner can read. */
export async function loadHistory(file: string): Promise<string[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return []
  }
  const entries: string[] = []
  for (const line of text.split('\n')) {
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'string' && value !== entries.at(-1)) entries.push(value)
    } catch {
      // a torn line, or the last newline
    }
  }
  const kept = entries.slice(-maxEntries)
  if (entries.length > 2 * maxEntries) await replaceHistory(file, kept)
  return kept
}

export async function addToHistory(file: string, prompt: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  await appendFile(file, `${JSON.stringify(prompt)}\n`, { mode: 0o600 })
}

async function replaceHistory(file: string, entries: readonly string[]): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`
  await writeFile(temporary, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
  await rename(temporary, file)
}
