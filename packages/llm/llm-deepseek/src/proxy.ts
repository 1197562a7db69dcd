import { decoded, type HttpReply, type Transport } from './transport.ts'

export interface ProxyAddresses {
  readonly httpProxy: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
}

/** The proxies of the environment; lower case wins, as curl has it. */
export function proxiesFrom(env: NodeJS.ProcessEnv): ProxyAddresses {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const all = read('ALL_PROXY')
  return { httpProxy: read('HTTP_PROXY') ?? all, httpsProxy: read('HTTPS_PROXY') ?? all, noProxy: read('NO_PROXY') }
}

/** Whether a request to `url` goes through a proxy. The machine itself is never reached through one. */
export function usesProxy(url: URL, proxies: ProxyAddresses): boolean {
  if ((url.protocol === 'https:' ? proxies.httpsProxy : proxies.httpProxy) === undefined) return false
  return !isLoopback(url.hostname) && !matchesNoProxy(url, proxies.noProxy)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname)
}

function matchesNoProxy(url: URL, list: string | undefined): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return (list ?? '').split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    const [, host = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (host === '' || (wanted !== undefined && wanted !== port)) return false
    const suffix = host.replace(/^\*?\./, '')
    return url.hostname === suffix || url.hostname.endsWith(`.${suffix}`)
  })
}

/** Through a proxy undici carries the request; it is loaded for that case only. */
export async function createProxyTransport(proxies: ProxyAddresses, ca: string[] | undefined): Promise<Transport> {
  // By its default export: undici is CommonJS, and a bundle gives such a module no other.
  const { EnvHttpProxyAgent, request } = (await import('undici')).default as unknown as typeof import('undici')
  const trust = ca === undefined ? {} : { connect: { ca }, requestTls: { ca }, proxyTls: { ca } }
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxies.httpProxy,
    httpsProxy: proxies.httpsProxy,
    noProxy: proxies.noProxy,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...trust,
  })
  return {
    async post(url, headers, parts, signal): Promise<HttpReply> {
      const answer = await request(url, {
        method: 'POST',
        headers,
        body: Buffer.concat(parts),
        signal,
        dispatcher: agent,
      })
      const body = decoded(answer.body, answer.headers['content-encoding'])
      return {
        status: answer.statusCode,
        header: (name) => {
          const value = answer.headers[name]
          return Array.isArray(value) ? value[0] : value
        },
        body,
        release: () => void answer.body.on('error', () => {}).destroy(),
      }
    },
    close: () => void agent.destroy(),
  }
}
