import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly token?: string
  readonly body?: JsonValue
  /** Milliseconds. */
  readonly patience?: number
}

export interface NodeReply {
  /** 'none': no connection, or it was lost. 'late': no answer within the patience. */
  readonly status: number | 'none' | 'late'
  /** Parsed; undefined when there was none. */
  readonly body: JsonValue | undefined
  readonly header: (name: string) => string | null
  /** Until the answer, milliseconds. */
  readonly took: number
}

/** Longer than anything may take: a run has 30 s. */
const PATIENCE_MS = 45_000

/** One request to a path under /api/v1 of a node or of the proxy before them. Never throws. */
export async function callNode(address: string, path: string, call: Call = {}): Promise<NodeReply> {
  const { method = 'GET', token, body, patience = PATIENCE_MS } = call
  const began = performance.now()
  try {
    const reply = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patience),
    })
    const text = await reply.text()
    return {
      status: reply.status,
      body: text === '' ? undefined : parsed(text),
      header: (name) => reply.headers.get(name),
      took: performance.now() - began,
    }
  } catch (error) {
    const late = error instanceof Error && error.name === 'TimeoutError'
    return {
      status: late ? 'late' : 'none',
      body: undefined,
      header: () => null,
      took: performance.now() - began,
    }
  }
}

/** The object that a call for management answers with; asked again while the answer is 503 or none. Throws for others. */
export async function manage(address: string, path: string, call: Call): Promise<NodeReply> {
  for (let tries = 0; ; tries++) {
    const reply = await callNode(address, path, call)
    if (reply.status === 200) return reply
    const again = reply.status === 503 || reply.status === 'none'
    if (!again || tries === 100)
      throw new Error(`${call.method ?? 'GET'} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** All records of a search, page by page. */
export async function searchAll(
  address: string,
  path: string,
  token: string,
  filters: JsonObject = {},
): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  let after: string | null = null
  do {
    const body: JsonObject = { filters, limit: 1000, ...(after !== null && { after }) }
    const reply = await manage(address, path, { method: 'POST', token, body })
    if (!Array.isArray(reply.body)) throw new TypeError(`${path} gave no list.`)
    records.push(...reply.body.filter(isJsonObject))
    after = reply.header('x-next-cursor')
  } while (after !== null)
  return records
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
