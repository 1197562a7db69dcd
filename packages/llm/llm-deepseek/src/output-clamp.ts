/** What one request and its usage said about a conversation: the anchor for the next estimate. */
export interface PromptAnchor {
  readonly promptLength: number
  readonly promptTokens: number
}

/** A cap below this is no answer; a prompt that leaves less is the server's to refuse. */
const FLOOR = 1024
/** Rather too many than too few: source code and CJK text stay above three characters a token. */
const CHARS_PER_TOKEN = 3

export function estimatePrompt(promptLength: number, anchor: PromptAnchor | undefined): number {
  if (anchor === undefined || promptLength < anchor.promptLength) return Math.ceil(promptLength / CHARS_PER_TOKEN)
  return anchor.promptTokens + Math.ceil((promptLength - anchor.promptLength) / CHARS_PER_TOKEN)
}

/** The output cap that still fits beside the prompt. */
export function clampOutput(
  wanted: number | undefined,
  window: number | undefined,
  promptTokens: number,
): number | undefined {
  if (wanted === undefined || window === undefined) return wanted
  return Math.min(wanted, Math.max(FLOOR, window - promptTokens))
}
