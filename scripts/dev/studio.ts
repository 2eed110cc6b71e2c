/** The studio from its sources: Vite's server with hot replacement, which hands all other requests to the server. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createServer, mergeConfig, type ProxyOptions } from 'vite'
import { studioHeaders } from '../../src/http/routes/site/studio-files.ts'
import config from '../../src/studio/vite.config.ts'

const root = join(import.meta.dirname, '..', '..')

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface DevelopedStudio {
  isFor(request: IncomingMessage): boolean
  readonly answer: Answer
  /** Hands a request on to the server at that address. */
  pass(request: IncomingMessage, response: ServerResponse, address: string): void
}

/** @param front which gets the requests; the socket of hot replacement is added to it */
export async function openStudio(front: Server): Promise<DevelopedStudio> {
  let proxied: ProxyOptions = {}
  const vite = await createServer(
    mergeConfig(config, {
      configFile: false,
      // Not within the folder of the studio, whose files the build counts as its sources, nor within the packages, which two
      // checkouts may share.
      cacheDir: join(root, 'dist', 'studio-dev'),
      clearScreen: false,
      server: {
        middlewareMode: true,
        ws: { server: front },
        // The server answers preflight requests itself, and says which origins may call it.
        cors: false,
        headers: headers(),
        proxy: {
          '/': {
            bypass: (request: IncomingMessage) => (isFor(request) ? request.url : undefined),
            configure: (_proxy: unknown, options: ProxyOptions) => {
              proxied = options
            },
          },
        },
      },
    }),
  )
  return {
    isFor,
    answer: vite.middlewares,
    pass(request, response, address) {
      proxied.target = address
      vite.middlewares(request, response)
    },
  }
}

function isFor({ url = '' }: IncomingMessage): boolean {
  return /^\/studio(?:[/?]|$)/.test(url)
}

/** As the server sends them, with what hot replacement needs: a script in the page, its socket, and a worker that waits for it. */
function headers(): Record<string, string> {
  const nonce = config.html?.cspNonce ?? ''
  const sent = studioHeaders(nonce)
  const policy = sent['content-security-policy']
    .replace("script-src 'self'", `script-src 'self' 'nonce-${nonce}'`)
    .replace("connect-src 'self'", "connect-src 'self' ws:")
  return { ...sent, 'content-security-policy': `${policy}; worker-src blob:` }
}
