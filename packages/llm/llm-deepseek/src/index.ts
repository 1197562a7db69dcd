import type {} from '@dsh/attachment-local'
import type { Context } from '@dsh/cordis'
import { DshError } from '@dsh/core'
import type {} from '@dsh/credentials-local'
import type {} from '@dsh/host'
import { type ImageBlock, LlmCode, llmError } from '@dsh/llm'
import pkg from '../package.json' with { type: 'json' }
import { createAdapter } from './adapter.ts'
import { trustedCertificates } from './certificates.ts'
import { Config } from './config.ts'
import { createProxyTransport, proxiesFrom, usesProxy } from './proxy.ts'
import { createDirectTransport, type Transport } from './transport.ts'

export const name = 'llm-deepseek'
export const inject = ['llm']
export { Config }

const OFFICIAL_URL = 'https://api.deepseek.com'
const OFFICIAL_ROUTE = 'deepseek-official'

export async function apply(ctx: Context, config: Config): Promise<void> {
  const fromEnvironment = (variable: string): string | undefined => {
    const launch = ctx.get('launchEnvironment')
    return (launch === undefined ? process.env[variable] : launch.get(variable)) || undefined
  }
  const inherited = config.route === OFFICIAL_ROUTE ? fromEnvironment('DEEPSEEK_BASE_URL') : undefined
  if (inherited !== undefined && !isHttp(inherited))
    throw new DshError('INVALID_CONFIG', `llm-deepseek: DEEPSEEK_BASE_URL is no http or https address: ${inherited}`)
  const baseURL = (config.baseURL ?? inherited ?? OFFICIAL_URL).replace(/\/+$/, '')

  const proxies = proxiesFrom(process.env)
  const ca = await trustedCertificates(config.caFile, process.env['SSL_CERT_FILE'], (text) => ctx.logger.warn(text))
  const open: Transport[] = []
  let transport: Promise<Transport> | undefined
  const connect = async (url: URL): Promise<Transport> => {
    const made = usesProxy(url, proxies) ? await createProxyTransport(proxies, ca) : createDirectTransport(ca)
    open.push(made)
    return made
  }
  ctx.effect(() => () => {
    for (const made of open) made.close()
  })

  ctx.llm.register(
    createAdapter({
      config,
      baseURL,
      userAgent: `dsh/${pkg.version}`,
      key: async (reference) => {
        const credentials = ctx.get('credentials')
        return credentials === undefined ? fromEnvironment(reference) : credentials.resolve(reference)
      },
      image: (block) => dataUrl(ctx, block),
      transport: (url) => (transport ??= connect(url)),
    }),
  )
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

async function dataUrl(ctx: Context, block: ImageBlock): Promise<string> {
  const attachments = ctx.get('attachments')
  if (attachments === undefined)
    throw llmError(LlmCode.UNSUPPORTED_CONTENT, 'llm-deepseek: an image can only be sent with the row attachment-local')
  const bytes = await attachments.read(block.attachment)
  return `data:${block.attachment.mediaType};base64,${Buffer.from(bytes).toString('base64')}`
}
