import { LlmCode, llmError } from '@dsh/llm'

/** The key of a request. Looked up for each one, so that a key stored meanwhile counts; never part of any message. */
export function checkKey(value: string | undefined, reference: string, route: string): string {
  if (value === undefined || value === '') {
    const login = reference === 'DEEPSEEK_API_KEY' ? 'dsh login' : `dsh login ${reference}`
    throw llmError(
      LlmCode.MISSING_CREDENTIAL,
      `llm-deepseek: no API key for provider route "${route}"; store ${reference} with \`${login}\`, or export ${reference} in the launching environment`,
    )
  }
  const key = value.trim()
  if (!/^[\x21-\x7E]+$/.test(key))
    throw llmError(
      LlmCode.INVALID_CREDENTIAL,
      `llm-deepseek: the API key resolved from ${reference} contains characters no HTTP header can carry; set ${reference} again to the key alone, in printable ASCII`,
    )
  return key
}
