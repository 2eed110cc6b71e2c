/** What a generated client does at each call. A text, because it is not of this program: the suite compiles it with every example. */
export const CLIENT_RUNTIME = `
export interface ClientOptions {
  /** Where Quoin is, such as https://app.example.com. */
  readonly baseUrl: string
  /** An access token or an API key; a function is asked before each call. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>)
  /** The global one if not given. */
  readonly fetch?: typeof globalThis.fetch
}

/** A reply with a status below 400. */
export interface Reply<Status extends number, Body> {
  readonly status: Status
  readonly body: Body
  readonly headers: Headers
}

export interface ApiProblem {
  readonly error?: string
  readonly code?: string
  readonly message?: string
  /** What is wrong with which field. */
  readonly fields?: { readonly [name: string]: string }
  readonly [name: string]: unknown
}

/** A reply with a status from 400 on. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: ApiProblem
  readonly headers: Headers

  constructor(status: number, problem: ApiProblem, headers: Headers) {
    super(problem.message ?? problem.error ?? 'The server answered ' + status + '.')
    this.name = 'ApiError'
    this.status = status
    this.problem = problem
    this.headers = headers
  }
}

export interface ServerEvent {
  readonly event: string
  readonly id: string
  /** Parsed if it is JSON, else the text. */
  readonly data: unknown
}

interface Args {
  readonly path?: { readonly [name: string]: unknown }
  readonly query?: { readonly [name: string]: unknown }
  readonly header?: { readonly [name: string]: unknown }
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
}

interface Page {
  readonly body: unknown
  readonly headers: Headers
}

/** Each item of a list over all of its pages: \`for await (const task of each((after) => api.listTasks({ query: { after } })))\`. */
export async function* each<P extends Page>(
  page: (after: string | undefined) => Promise<P>,
): AsyncGenerator<P['body'] extends ReadonlyArray<infer Item> ? Item : never, void> {
  let after: string | undefined
  do {
    const { body, headers } = await page(after)
    if (Array.isArray(body)) yield* body
    after = headers.get('x-next-cursor') ?? undefined
  } while (after !== undefined)
}

function caller({ baseUrl, token, fetch = globalThis.fetch }: ClientOptions) {
  // biome-ignore lint: the types of a call are those of its operation
  return async (method: string, path: string, args: Args = {}): Promise<any> => {
    const url = new URL(filled(path, args.path ?? {}), baseUrl)
    for (const [name, value] of Object.entries(args.query ?? {}))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined && one !== null) url.searchParams.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
    const headers = new Headers(args.headers)
    for (const [name, value] of Object.entries(args.header ?? {})) if (value !== undefined) headers.set(name, String(value))
    const bearer = typeof token === 'function' ? await token() : token
    if (bearer !== undefined) headers.set('authorization', 'Bearer ' + bearer)
    if (args.idempotencyKey !== undefined) headers.set('idempotency-key', args.idempotencyKey)
    const { body, signal } = args
    const plain = body instanceof FormData || body instanceof URLSearchParams || body instanceof Blob || typeof body === 'string'
    if (body !== undefined && !plain) headers.set('content-type', 'application/json')
    const sent = body === undefined ? undefined : plain ? (body as BodyInit) : JSON.stringify(body)
    const reply = await fetch(url, { method, headers, ...(sent !== undefined && { body: sent }), ...(signal && { signal }) })
    const read = await readBody(reply)
    if (reply.status >= 400) throw new ApiError(reply.status, isProblem(read) ? read : {}, reply.headers)
    return { status: reply.status, body: read, headers: reply.headers }
  }
}

/** \`/tasks/{guid}\` and \`/files/{path...}\`, whose slashes stay. */
function filled(path: string, values: { readonly [name: string]: unknown }): string {
  return path.replace(/\\{([^}]+?)(\\.\\.\\.)?\\}/g, (_all, name: string, rest?: string) => {
    const text = String(values[name] ?? values[name + '...'] ?? '')
    return rest ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text)
  })
}

async function readBody(reply: Response): Promise<unknown> {
  const type = reply.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) return serverEvents(reply)
  if (/\\bjson\\b/.test(type)) return reply.json()
  if (reply.status === 204 || reply.headers.get('content-length') === '0') return undefined
  return type.startsWith('text/') ? reply.text() : reply.blob()
}

async function* serverEvents(reply: Response): AsyncGenerator<ServerEvent, void> {
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let left = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      left += value.replaceAll('\\r\\n', '\\n')
      const blocks = left.split('\\n\\n')
      left = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = { event: 'message', id: '', data: '' }
        for (const line of block.split('\\n')) {
          const at = line.indexOf(':')
          const value = line.slice(at + 1).replace(/^ /, '')
          if (line.startsWith('event:')) event.event = value
          else if (line.startsWith('id:')) event.id = value
          else if (line.startsWith('data:')) event.data += (event.data === '' ? '' : '\\n') + value
        }
        if (event.data !== '') yield { ...event, data: parsed(event.data) }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isProblem(value: unknown): value is ApiProblem {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
`
