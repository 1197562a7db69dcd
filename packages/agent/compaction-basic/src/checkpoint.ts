import { randomUUID } from 'node:crypto'
import type { ContentBlock, UserMessage } from '@dsh/llm'

const preamble =
  'This is an automatically generated checkpoint condensing an earlier span of the conversation to free up context. ' +
  'Treat the captured context as established background and build on it without restating it. ' +
  'Continue the task directly from the messages that follow, without acknowledging this checkpoint.'

const instruction = `The conversation so far is about to be replaced by a digest that you write now. Whoever continues has the digest and nothing else of it, so put in everything the work still needs. Answer with the digest alone, in Markdown, without calling a tool, under exactly these headings:

## Goal
What was asked for, in the words that matter, and how it is known to be done.
## Instructions
Standing instructions, preferences and limits that people or project files gave.
## State
What is done, what is in progress, what has not been started.
## Decisions
What was decided and why; what was tried and dropped.
## Files
Paths that were read, made or changed, each with what it holds or what was done to it. Keep names, signatures and line numbers that are still needed.
## Commands and results
Commands worth knowing, how they are run, and what they showed. Quote exact values, versions, identifiers and links.
## Errors
Failures met, their exact text where it matters, and whether they are solved.
## Next steps
What to do next, in order, beginning with what was under way.

Be exact rather than long. Leave out what was said once and settled. Never add what the conversation does not contain.`

/** The last message of the summary request; it is never part of the session. */
export function instructionMessage(): UserMessage {
  return {
    content: [{ type: 'text', text: instruction }],
    source: { kind: 'plugin', plugin: 'compact' },
    role: 'user',
    id: randomUUID(),
  }
}

/** The message that takes the place of what was summarised. */
export function checkpointMessage(
  summary: readonly ContentBlock[],
  source: { readonly compactionId: string; readonly sourceCommandId?: string },
): UserMessage {
  return {
    content: [
      { type: 'text', text: `${preamble}\n\n<compacted-summary>` },
      ...summary,
      { type: 'text', text: '</compacted-summary>' },
    ],
    source: { kind: 'plugin', plugin: 'compact', ...source },
    role: 'user',
    id: randomUUID(),
  }
}
