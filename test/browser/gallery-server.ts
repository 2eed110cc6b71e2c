/** Serves pages of `src/pages` over real HTTP, with the headers that Quoin sends, and remembers what was posted. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { openPages } from '../../src/pages/render-page.ts'
import type { PageView } from '../../src/shared/pages/page-content.ts'

type Answered = Shown | 'redirect' | 'lost' | undefined

/** Replies to a request; undefined: 404, `lost`: the connection ends without a reply. */
export type Answer = (request: { url: URL; method: string; body: string }) => Answered | Promise<Answered>

/** What is to be shown, and whether with a content security policy. */
interface Shown extends Partial<PageView> {
  readonly policy?: boolean
  readonly status?: number
}

export interface GalleryServer {
  readonly address: string
  /** What was posted, oldest first. */
  readonly posted: readonly string[]
  /** How the next pages that listen are refused, by the status; the others are not. */
  readonly refusals: number[]
  /** Sends an event to every page that listens. */
  send(event: string): void
  close(): Promise<void>
}

const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120"><rect width="320" height="120" fill="#cfe4e1"/><path d="M40 90h240M60 75h200M80 60h160" stroke="#0b6a63" stroke-width="6"/></svg>'

/** 21 November 2026, so that screenshots do not change by themselves. */
const galleryNow = Date.UTC(2026, 10, 21, 9)

export async function openGalleryServer(answer: Answer): Promise<GalleryServer> {
  const pages = await openPages(() => galleryNow)
  const files = new Map(pages.assets.map((asset) => [`/_pages/${asset.name}`, asset]))
  const posted: string[] = []
  const listeners = new Set<ServerResponse>()
  const refusals: number[] = []

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://gallery')
    const file = files.get(url.pathname)
    if (file)
      return void response
        .writeHead(200, { 'content-type': file.type, 'content-encoding': 'br' })
        .end(await file.br())
    if (url.pathname === '/picture.svg')
      return void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture)
    if (url.pathname === '/events') {
      const refusal = refusals.shift()
      if (refusal !== undefined) return void response.writeHead(refusal).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
      listeners.add(response)
      return void response.on('close', () => listeners.delete(response))
    }
    const body = await textOf(request)
    if (request.method === 'POST') posted.push(body)
    const view = await answer({ url, method: request.method ?? 'GET', body })
    if (view === undefined) return void response.writeHead(404).end()
    if (view === 'redirect') return void response.writeHead(303, { location: '/done' }).end()
    if (view === 'lost') return void response.destroy()
    const { policy: strict = true, status = 200, ...changes } = view
    const html = pages.render({ ...plainView, url: url.pathname + url.search, ...changes })
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    const policy = strict ? { 'content-security-policy': pagePolicy } : {}
    response.writeHead(status, { ...headers, ...policy, 'x-content-type-options': 'nosniff' }).end(html)
  }

  const server = createServer((request, response) => {
    reply(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('No port.')
  return {
    address: `http://127.0.0.1:${bound.port}`,
    posted,
    refusals,
    send: (event) => {
      for (const listener of listeners) listener.write(event)
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const plainView: PageView = {
  title: 'Gallery',
  content: [],
  template: undefined,
  locale: 'en',
  timeZone: 'UTC',
  user: { username: 'ann', name: 'Ann Ashdown' },
  url: '/',
  hidden: { _token: 'token' },
  theme: 'auto',
  notice: undefined,
  events: undefined,
  noIndex: false,
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
