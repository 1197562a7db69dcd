import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@dsh/agent'
import type { TerminalStartup } from './args.ts'
import { unlistedNote } from './model-choice.ts'
import { runOwnCommand, type SlashContext } from './slash-run.ts'
import { sandboxText } from './status-line.ts'
import type { TerminalHost } from './terminal-host.ts'

/** How long the first lines wait for the probe of the sandbox; it is slow only on the first start of a machine. */
const probeMs = 1000

interface StartLine {
  readonly text: string
  readonly tone: 'info' | 'warn'
}

/** Which key, model, mode and rung are in force, and what is odd about them; a line each. What a status line says is left out. */
export async function startLines(
  host: TerminalHost,
  agent: Agent,
  startup: TerminalStartup,
  { key, statusShown }: { readonly key: string | undefined; readonly statusShown: boolean },
): Promise<readonly StartLine[]> {
  const [unlisted] = await Promise.all([
    startup.model === undefined ? undefined : unlistedNote(host, agent.options),
    Promise.race([host.sandboxKnown(), sleep(probeMs, undefined, { ref: false })]),
  ])
  const facts = host.status(agent)
  const model = facts.effort === undefined ? facts.model : `${facts.model} (${facts.effort})`
  const sandbox = sandboxText(facts)
  const rung = facts.enforcement?.rung
  const parts = [
    `dsh ${host.version}`,
    ...(statusShown ? [] : [model, `${facts.mode}/${facts.policy}`]),
    ...(sandbox === undefined ? [] : [rung === undefined ? sandbox : `${sandbox} (${rung})`]),
    `key ${key === undefined ? 'missing' : `from ${key}`}`,
    '/help',
  ]
  return [
    { text: parts.join(' · '), tone: 'info' },
    ...(unlisted === undefined ? [] : [{ text: unlisted, tone: 'warn' } as const]),
  ]
}

/** Without a key nothing can be asked: offer the ways on. */
export async function firstRun(slash: SlashContext): Promise<void> {
  const choice = await slash.pick('No API key is set. How do you want to go on?', [
    { value: 'login', label: 'Store a key', description: 'typed once, kept in your home for you alone' },
    { value: 'url', label: 'Use another server', description: 'vLLM, llama.cpp, Ollama or any compatible API' },
    { value: 'demo', label: 'See the keyless demo', description: 'a recorded session, played for real' },
    { value: 'later', label: 'Look around first', description: '/login asks again' },
  ])
  if (choice === 'login') await runOwnCommand(slash, 'login', '')
  else if (choice === 'url')
    slash.notice(
      'Set DEEPSEEK_BASE_URL to the server and DEEPSEEK_API_KEY to its key (any word for a local one), then start dsh again; docs/models.md, which came with dsh, has recipes.',
    )
  else if (choice === 'demo')
    slash.notice('Leave with Ctrl+D and run: dsh demo (npx dsh demo where dsh is not on your PATH)')
}
