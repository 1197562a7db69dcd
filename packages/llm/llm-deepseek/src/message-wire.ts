import type { ContentBlock, ImageBlock, Message } from '@dsh/llm'
import { LlmCode, llmError } from '@dsh/llm'

export interface WireOptions {
  /** The data URL of an image; undefined where the model takes text only. */
  readonly image: ((block: ImageBlock) => Promise<string>) | undefined
  readonly reasoningField: 'reasoning_content' | 'reasoning' | 'none'
  /** For the text of a refusal. */
  readonly refuseImage: string
}

type WirePart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** The wire objects of one message, in order. Results of tools become messages of their own. */
export function wireMessages(message: Message, options: WireOptions): object[] | Promise<object[]> {
  if (message.role === 'system') return [{ role: 'system', content: textOf(message.content) }]
  if (message.role === 'assistant') return [assistant(message.content, options.reasoningField)]
  if (!hasImage(message.content)) return user(message.content)
  if (options.image === undefined) throw llmError(LlmCode.UNSUPPORTED_CONTENT, options.refuseImage)
  return userWithImages(message.content, options.image)
}

function assistant(content: readonly ContentBlock[], reasoningField: WireOptions['reasoningField']): object {
  const reasoning = content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('')
  const calls = content.flatMap((block) =>
    block.type === 'tool-call'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: validArguments(block.arguments) } }]
      : [],
  )
  return {
    role: 'assistant',
    content: textOf(content),
    ...(reasoning === '' || reasoningField === 'none' ? {} : { [reasoningField]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Servers parse the arguments of earlier calls; what a model broke off goes back as JSON that still shows it. */
function validArguments(raw: string): string {
  if (raw === '') return '{}'
  try {
    JSON.parse(raw)
    return raw
  } catch {
    return JSON.stringify({ invalid_arguments: raw })
  }
}

function user(content: readonly ContentBlock[]): object[] {
  const results = content.flatMap((block) => (block.type === 'tool-result' ? [block] : []))
  const text = textOf(content)
  if (results.length === 0) return [{ role: 'user', content: text }]
  return [
    ...(text === '' ? [] : [{ role: 'user', content: text }]),
    ...results.map((result) => ({
      role: 'tool',
      tool_call_id: result.toolCallId,
      content: textOf(result.content) || '(no output)',
    })),
  ]
}

/** The wire has no images in tool results: they follow in a message of the user. */
async function userWithImages(
  content: readonly ContentBlock[],
  image: (block: ImageBlock) => Promise<string>,
): Promise<object[]> {
  const parts = await partsOf(content, image)
  const messages: object[] = parts.length === 0 ? [] : [{ role: 'user', content: parts }]
  const attached: WirePart[] = []
  for (const block of content) {
    if (block.type !== 'tool-result') continue
    messages.push({ role: 'tool', tool_call_id: block.toolCallId, content: textOf(block.content) || '(no output)' })
    attached.push(
      ...(await partsOf(
        block.content.filter((inner) => inner.type === 'image'),
        image,
      )),
    )
  }
  if (attached.length > 0)
    messages.push({
      role: 'user',
      content: [{ type: 'text', text: 'Attached image(s) from tool result:' }, ...attached],
    })
  return messages
}

async function partsOf(
  content: readonly ContentBlock[],
  image: (block: ImageBlock) => Promise<string>,
): Promise<WirePart[]> {
  const parts: WirePart[] = []
  for (const block of content) {
    if (block.type === 'text' && block.text !== '') parts.push({ type: 'text', text: block.text })
    if (block.type === 'image') parts.push({ type: 'image_url', image_url: { url: await image(block) } })
  }
  return parts
}

function textOf(content: readonly ContentBlock[]): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += block.text
  return text
}

export function hasImage(content: readonly ContentBlock[]): boolean {
  return content.some(
    (block) =>
      block.type === 'image' || (block.type === 'tool-result' && block.content.some((b) => b.type === 'image')),
  )
}
