import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type MockStep, startMockServer } from '@dsh/llm-mock-server'
import { Tmux } from './tmux.ts'

export interface Capture {
  readonly title: string
  readonly text: string
}

interface Scene {
  readonly title: string
  readonly steps: readonly MockStep[]
  readonly files?: { readonly [name: string]: string }
  readonly play: (tmux: Tmux) => Promise<string>
}

const scenes: readonly Scene[] = [
  {
    title: 'A change, its diff and the command that checks it',
    files: { 'greet.js': "export function greet(name) {\n  return 'Hello ' + name\n}\n" },
    steps: [
      {
        reasoning: 'I need to see the function before I change it.',
        calls: [{ name: 'read', args: { file_path: 'greet.js' } }],
      },
      {
        calls: [
          {
            name: 'edit',
            args: { file_path: 'greet.js', old_string: "'Hello ' + name", new_string: '`Hello, ${name}!`' },
          },
        ],
      },
      {
        calls: [
          {
            name: 'bash',
            args: {
              command: `node -e "import('./greet.js').then((m) => console.log(m.greet('Ada')))"`,
              description: 'try it',
            },
          },
        ],
      },
      { text: 'The greeting has its comma and its exclamation mark:\n\n```js\ngreet("Ada") // Hello, Ada!\n```' },
    ],
    play: async (tmux) => {
      await tmux.type('Greet people properly: "Hello, Ada!"')
      await tmux.keys('Enter')
      return tmux.waitFor('exclamation mark')
    },
  },
  {
    title: 'A question before anything leaves the workspace',
    steps: [
      {
        calls: [
          {
            name: 'bash',
            args: {
              command: 'cp report.md ~/Documents/',
              description: 'copy',
              sandbox_permissions: 'danger-full-access',
              justification: 'You asked for the report in your documents, which lie outside of this directory.',
            },
          },
        ],
      },
      { text: 'done' },
    ],
    play: async (tmux) => {
      await tmux.type('Put the report into my documents')
      await tmux.keys('Enter')
      return tmux.waitFor('y allow once')
    },
  },
  {
    title: 'The list of commands, while one is typed',
    steps: [{ text: 'ok' }],
    play: async (tmux) => {
      await tmux.type('/')
      return tmux.waitFor('/model')
    },
  },
]

/** Plays every scene on the built program in a real terminal, and gives what is on the screen. */
export async function capture(program: string): Promise<Capture[]> {
  const captures: Capture[] = []
  for (const scene of scenes) {
    const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'dsh-capture-')))
    const cwd = path.join(root, 'project')
    await mkdir(cwd)
    for (const [name, text] of Object.entries(scene.files ?? {})) await writeFile(path.join(cwd, name), text)
    const server = await startMockServer({ steps: scene.steps })
    const env = {
      DSH_HOME: path.join(root, 'home'),
      HOME: root,
      DEEPSEEK_BASE_URL: server.url,
      DEEPSEEK_API_KEY: 'key',
    }
    const tmux = await Tmux.start({ command: program, cwd, env, columns: 92, rows: 34 })
    try {
      await tmux.waitFor('/help')
      await scene.play(tmux)
      await new Promise((resolve) => setTimeout(resolve, 400))
      captures.push({ title: scene.title, text: (await tmux.screen()).replaceAll(root, '~') })
    } finally {
      await tmux.close()
      await server.close()
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    }
  }
  return captures
}
