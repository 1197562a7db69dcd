import type { ContentBlock, Message, ToolSchema } from '@dsh/llm'

const CHARS_PER_TOKEN = 4
/** What the wire spends around a block, a role or a section. */
const FRAME = 4
/** A picture, whatever its size: providers bill by tiles that we do not know. */
const IMAGE = 1024

const known = new WeakMap<Message, number>()

export function estimateMessage(message: Message): number {
  let tokens = known.get(message)
  if (tokens === undefined) {
    tokens = FRAME + blocks(message.content)
    known.set(message, tokens)
  }
  return tokens
}

function blocks(content: readonly ContentBlock[]): number {
  let tokens = 0
  for (const block of content) tokens += blockTokens(block)
  return tokens
}

function blockTokens(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return text(block.text)
    case 'tool-call':
      return text(block.name + block.arguments)
    case 'tool-result':
      return blocks(block.content)
    case 'image':
      return IMAGE
  }
}

export function estimateHeader(header: { readonly system?: string; readonly tools?: readonly ToolSchema[] }): number {
  const { system, tools } = header
  return (system === undefined ? 0 : text(system)) + (tools === undefined ? 0 : toolTokens(tools))
}

const knownTools = new WeakMap<readonly ToolSchema[], number>()

function toolTokens(tools: readonly ToolSchema[]): number {
  let tokens = knownTools.get(tools)
  if (tokens === undefined) {
    tokens = text(JSON.stringify(tools))
    knownTools.set(tools, tokens)
  }
  return tokens
}

function text(value: string): number {
  return Math.ceil(value.length / CHARS_PER_TOKEN) + FRAME
}
