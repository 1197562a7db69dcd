import type { Agent } from '@dsh/agent'
import { runOwnCommand, type SlashContext } from './slash-run.ts'
import type { TerminalHost } from './terminal-host.ts'

/** Which key, model, mode and rung are in force, in one line. */
export function startLine(host: TerminalHost, agent: Agent, key: string | undefined): string {
  const facts = host.status(agent)
  const rung =
    facts.mode === 'danger-full-access' || facts.enforcement === undefined
      ? ''
      : ` · sandbox ${facts.enforcement.level}${facts.enforcement.rung === undefined ? '' : ` (${facts.enforcement.rung})`}`
  return `dsh ${host.version} · ${facts.model}${facts.effort === undefined ? '' : ` (${facts.effort})`} · ${facts.mode}/${facts.policy}${rung} · key ${
    key === undefined ? 'missing' : `from ${key}`
  } · /help`
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
