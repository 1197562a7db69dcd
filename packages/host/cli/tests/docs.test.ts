import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { startMockServer } from '@dsh/llm-mock-server'
import { expect, test } from 'vitest'
import { Place } from './dsh.ts'

const docs = resolve(import.meta.dirname, '../../../../docs')

interface Block {
  readonly language: string
  readonly text: string
}

function blocks(file: string): Block[] {
  const text = readFileSync(resolve(docs, file), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }))
}

/** The words of a command line as a shell would give them; the documents use double quotes only. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

test.each(['compose.md', 'write-a-row.md'])(
  'every file in docs/%s loads and every command in it runs',
  async (file) => {
    const server = await startMockServer({ steps: [{ text: 'answered' }] })
    const place = new Place({ DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: server.url })
    let commands = 0
    for (const { language, text } of blocks(file)) {
      const name = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1]
      if (language !== 'sh') {
        if (name !== undefined) place.write(`work/${name}`, text)
        continue
      }
      for (const line of text.trim().split('\n')) {
        const [program, ...args] = words(line)
        expect(program).toBe('dsh')
        const { code, stdout, stderr } = await place.run(args)
        expect([line, code, stderr.replace(/^started with .*\n/m, '')]).toEqual([line, 0, ''])
        if (args.includes('-p')) expect(stdout).toBe('answered\n')
        if (stderr !== '') expect(stderr).toBe('started with a clock: string\n')
        commands++
      }
    }
    await server.close()
    expect(commands).toBeGreaterThan(1)
  },
  180_000,
)
