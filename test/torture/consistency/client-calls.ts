/** What a client can do, each noted as a call with its request's and its answer's time. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts'
import { uris } from './consistency-blueprint.ts'
import type { DocumentInput, DocumentOutput, DocumentState } from './document-model.ts'
import type { Recorder } from './recorder.ts'
import type { Reply, Request, Transport } from './transport.ts'

export interface Report {
  readonly reply: Reply
  readonly invoked: number
  /** Infinity when it is not known whether it was done. */
  readonly returned: number
}

export interface Caller {
  /** `requested`: statuses that make sense. 5xx and a lost answer leave open whether it was done. */
  call(request: Request, requested: readonly number[]): Promise<Report>
}

export function callerOf(transport: Transport, recorder: Recorder): Caller {
  return {
    async call(request, requested) {
      recorder.calls += 1
      const invoked = performance.now()
      const reply = await transport.call(request)
      const now = performance.now()
      const { status } = reply
      if (status === 'lost') recorder.lost += 1
      const known = status !== 'lost' && (status < 500 || requested.includes(status))
      if (known && !requested.includes(status))
        recorder.unexpected.push(`${request.method} ${request.path}: ${status} ${JSON.stringify(reply.body)}`)
      return { reply, invoked, returned: known ? now : Number.POSITIVE_INFINITY }
    },
  }
}

/** What was last read of a register: for an update that must not overwrite another one. */
export interface Known {
  readonly state: DocumentState
  readonly hash: string
}

/** One call on a document that many write. Gives the version that the answer shows. */
export async function callRegister(
  caller: Caller,
  recorder: Recorder,
  guid: string,
  input: DocumentInput,
  hash?: string,
): Promise<Known | undefined> {
  const { reply, invoked, returned } = await caller.call(registerRequest(guid, input, hash), [200, 404, 409])
  const body = isJsonObject(reply.body) ? reply.body : undefined
  const calls = recorder.registers.get(guid) ?? []
  recorder.registers.set(guid, calls)
  const known = returned !== Number.POSITIVE_INFINITY
  // What a read without an answer would have seen changes nothing.
  if (!known && input.do === 'read') return undefined
  calls.push({ invoked, returned, input, output: known ? outputOf(reply.status, body) : undefined })
  return known && body?._meta ? { state: stateOf(body), hash: hashOf(body) } : undefined
}

function registerRequest(guid: string, input: DocumentInput, hash: string | undefined): Request {
  const path = `/${uris.documents}/${guid}`
  if (input.do === 'read') return { method: 'GET', path }
  if (input.do === 'add') return { method: 'POST', path: `${path}/add`, body: {} }
  if (input.do === 'set') return { method: 'PUT', path, body: { token: input.token } }
  if (input.do === 'swap')
    return { method: 'PUT', path, body: { token: input.token, update_hash: hash ?? '' } }
  throw new TypeError(`A register cannot be asked to ${input.do}.`)
}

function outputOf(status: number | 'lost', body: JsonObject | undefined): DocumentOutput {
  if (status === 404) return { is: 'absent' }
  if (status === 409) return { is: 'conflict' }
  return { is: 'done', document: body ? stateOf(body) : null }
}

function stateOf(document: JsonObject): DocumentState {
  return { token: String(document.token), count: Number(document.count ?? 0) }
}

export function metaOf(document: JsonValue | undefined, field: 'guid' | 'update_hash'): string {
  const meta = isJsonObject(document) ? document._meta : undefined
  return isJsonObject(meta) ? String(meta[field]) : ''
}

const hashOf = (document: JsonObject) => metaOf(document, 'update_hash')

/** All documents of the group. undefined when there was no answer. */
export async function callList(caller: Caller, recorder: Recorder, query: string): Promise<void> {
  const { reply, invoked, returned } = await caller.call(
    { method: 'GET', path: `/${uris.documents}?${query}` },
    [200],
  )
  if (reply.status !== 200 || !isJsonObject(reply.body)) return
  const { documents, total } = reply.body
  const all = Array.isArray(documents) ? documents.filter(isJsonObject) : []
  recorder.lists.push({
    name: `list ${recorder.lists.length + 1} (${query})`,
    invoked,
    returned,
    documents: new Map(all.map(({ key, token }) => [String(key), String(token)])),
    total: Number(total),
    count: all.length,
  })
}
