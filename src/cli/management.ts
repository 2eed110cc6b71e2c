import type { Readable } from 'node:stream'
import type { PartsApi } from '../shared/application/install-parts.ts'
import type { Problem } from '../shared/errors.ts'
import { isGuid } from '../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { Terminal } from './command.ts'

/**
 * The management endpoints, wherever they are: over HTTP on a running server (`remote-management.ts`), or on the data
 * directory itself when no server runs (`local-management.ts`). Both go through the same routes, so a command does the
 * same, and is refused for the same reasons, in both.
 */
export interface Management {
  /** Sends a request to a path under /api/v1 and gives the reply's body. Throws Refused for any reply but 2xx. */
  call(method: Method, path: string, body?: JsonValue): Promise<JsonValue>
  /** Sends a file to such a path by POST, piece by piece. */
  upload(path: string, file: { readonly type: string; readonly body: Readable }): Promise<JsonValue>
  /** The reply to GET of such a path, piece by piece until `close`. Throws Refused, also in the middle. */
  download(path: string): Promise<AsyncIterable<Buffer>>
  close(): Promise<void>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What a management endpoint answered instead of doing it. */
export class Refused extends Error {
  readonly status: number
  /** Of the error; empty for what is no error of Quoin. */
  readonly code: string
  /** What the reply says beside its sentence. */
  readonly details: JsonObject

  constructor(message: string, status: number, details: JsonObject = {}, code = '') {
    super(message)
    this.code = code
    this.details = details
    this.status = status
  }
}

/** The body of a reply. Throws Refused, with the reply's own sentence, unless it is 2xx. */
export function bodyOf(status: number, text: string): JsonValue {
  const body = parsed(text)
  if (status >= 200 && status < 300) {
    if (body === undefined) throw new Refused('The server is not Quoin: its reply is not JSON.', status)
    return body
  }
  const reported = isJsonObject(body) ? body : {}
  const message = typeof reported.message === 'string' ? reported.message : `The server answered ${status}.`
  const code = typeof reported.error === 'string' ? reported.error : ''
  throw new Refused(message, status, isJsonObject(reported.details) ? reported.details : {}, code)
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The warnings in the reply to a deploy. */
export function warningsIn(body: JsonValue): Problem[] {
  return isJsonObject(body) ? problemsOf(body.warnings) : []
}

function problemsOf(list: JsonValue | undefined): Problem[] {
  return recordsOf(list ?? []).map(({ block, pin, message }) => ({
    block: String(block),
    ...(typeof pin === 'string' && { pin }),
    message: String(message),
  }))
}

/** The records of a reply that is a list. */
export function recordsOf(body: JsonValue): JsonObject[] {
  return Array.isArray(body) ? body.filter(isJsonObject) : []
}

export function guidOf(record: JsonValue): string {
  const meta = isJsonObject(record) ? record._meta : undefined
  const guid = isJsonObject(meta) ? meta.guid : undefined
  if (typeof guid !== 'string') throw new Refused('The server sent a record without a guid.', 200)
  return guid
}

/** What reads and makes the parts of a file. */
export function partsApi(management: Management, terminal: Terminal): PartsApi {
  return {
    async find(path, body) {
      try {
        return recordsOf(await management.call('POST', path, body))
      } catch (error) {
        if (error instanceof Refused && error.status === 403) return undefined
        throw error
      }
    },
    stays: (part) => terminal.complain(`${part} was made or changed, and could not be undone.`),
    call: (method, path, body) => management.call(method, path, body),
  }
}

/** The one record that a person means by its name or its guid. Throws Refused if there is none, or several. */
export async function findRecord(
  management: Management,
  kind: 'blueprints' | 'users',
  named: string,
): Promise<JsonObject> {
  const noun = kind === 'users' ? 'user' : 'blueprint'
  const field = isGuid(named) ? '_meta.guid' : kind === 'users' ? 'username' : 'name'
  const body = { filters: { [field]: named }, limit: 10 }
  const found = recordsOf(await management.call('POST', `/${kind}/search`, body))
  const [record] = found
  if (record === undefined) throw new Refused(`There is no ${noun} ${JSON.stringify(named)}.`, 404)
  if (found.length > 1) {
    const guids = found.map(guidOf).join(', ')
    throw new Refused(`Several ${noun}s are named ${JSON.stringify(named)}. Say the guid: ${guids}.`, 409)
  }
  return record
}
