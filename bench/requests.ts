/** One request, ready to be written to a socket. */
export interface Ask {
  readonly bytes: Buffer
  readonly expected: number
  /** Whether it is what the row measures; what only goes along is checked and not counted. */
  readonly counted: boolean
}

interface BenchRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly expected?: number
  readonly token?: string
  readonly body?: string
  readonly counted?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly host?: string | undefined
}

/** Builds the bytes once, so that while the clock runs nothing is done but writing them. */
export function ask({
  method = 'GET',
  path,
  expected = 200,
  token,
  body,
  counted = true,
  headers = {},
  host = '127.0.0.1',
}: BenchRequest): Ask {
  const lines = [`${method} /api/v1/${path} HTTP/1.1`, `host: ${host}`, 'accept: application/json']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (token !== undefined) lines.push(`authorization: Bearer ${token}`)
  if (body !== undefined)
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)
  return { bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`), expected, counted }
}

/** The items over and over, in order. */
export function runCooperatively<T>(items: readonly T[]): () => T {
  let at = 0
  return () => {
    const item = items[at]
    if (item === undefined) throw new Error('There is nothing to take turns.')
    at = (at + 1) % items.length
    return item
  }
}
