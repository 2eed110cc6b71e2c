import { reached, tokenHeader } from '../../api/request.ts'

export interface TryRequest {
  readonly method: string
  /** With `{names}`. */
  readonly path: string
  /** By `in` and name: `path guid`, `query limit`, `header x`. Empty ones are left out. */
  readonly values: Readonly<Record<string, string>>
  /** JSON; undefined: none. */
  readonly body: string | undefined
  readonly asMyself: boolean
}

export interface TryReply {
  readonly status: number
  /** From sending to the last byte, as this browser saw it. */
  readonly milliseconds: number
  readonly headers: readonly (readonly [string, string])[]
  /** Parsed if it is JSON, else its text. */
  readonly body: unknown
}

/** The address with its parameters put in. */
export function tryAddress({ path, values }: Pick<TryRequest, 'path' | 'values'>): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_all, name: string) =>
    encodeURIComponent(values[`path ${name}`] ?? ''),
  )
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(values))
    if (key.startsWith('query ') && value !== '') query.set(key.slice('query '.length), value)
  return `${filled}${query.size > 0 ? `?${query}` : ''}`
}

/** The same request for a terminal. The token is a variable, so that it is not shared by mistake. */
export function curlOf(request: TryRequest, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${request.method === 'GET' ? '' : `-X ${request.method} `}${quoted(origin + tryAddress(request))}`,
    ...(request.asMyself ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...headersOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d ${quoted(request.body)}`]),
  ].join(' \\\n  ')
}

function headersOf({ values, body }: TryRequest): [string, string][] {
  const input = Object.entries(values)
    .filter(([key, value]) => key.startsWith('header ') && value !== '')
    .map(([key, value]): [string, string] => [key.slice('header '.length), value])
  return body === undefined ? input : [['content-type', 'application/json'], ...input]
}

/** Sends it and gives whatever comes back, errors of the server included. */
export async function sendTry(request: TryRequest): Promise<TryReply> {
  const began = performance.now()
  const reply = await reached(tryAddress(request), {
    method: request.method,
    headers: { ...Object.fromEntries(headersOf(request)), ...(request.asMyself ? tokenHeader() : {}) },
    ...(request.body === undefined ? {} : { body: request.body }),
    credentials: 'omit',
  })
  const text = await reply.text()
  return {
    status: reply.status,
    milliseconds: performance.now() - began,
    headers: [...reply.headers],
    body: parsed(text),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
