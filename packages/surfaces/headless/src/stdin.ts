import { taskRequired, UsageError } from './options.ts'

/** The whole of a piped stdin as the task. */
export async function readTask(stdin: AsyncIterable<Buffer | string>, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  const ended = (async () => {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  })()
  await Promise.race([ended, aborted(signal)])
  const task = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
  if (task.trim() === '') throw new UsageError(taskRequired)
  return task
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
