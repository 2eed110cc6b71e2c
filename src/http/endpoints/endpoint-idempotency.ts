/**
 * Idempotent endpoints: a request that carries an `idempotency-key` runs the flow once; asked again within a day, the
 * stored reply is sent instead.
 *
 * The reply is stored in the transaction of the run that made it, so there is a stored reply exactly if what the run
 * wrote is there. A request with a key that is being worked on waits for it. Should two nodes work on one key, the
 * unique index lets one of them commit; the other one's writes are undone and it sends the reply of the first.
 *
 * A key in the header belongs to an endpoint and to its sender (the user, or the address of an anonymous caller), and to
 * one request: the same key with another path or body is a mistake of the client and refused.
 *
 * A key that the trigger calculates is what makes two requests the same, so neither their bodies nor the addresses of
 * anonymous senders need to be: a service repeats its events from any of its machines. It follows that
 *
 * - a refusal is not stored: an unsigned request with the id of an event would otherwise keep the event out;
 * - a request that differs in path or body gets the status alone: the reply may be for the first sender only.
 */

import { createHash } from 'node:crypto'
import { FileBody, type Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Clock } from '../../shared/clock.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { replyText } from './request-and-reply.ts'

const DAY = 86_400
const LONGEST_KEY = 255
const LONGEST_CALCULATED = 4096

export interface StoredReply {
  readonly code: number
  readonly text: string | undefined
  /** The asset whose file it is, by its record. The file itself is not stored once more. */
  readonly file?: JsonObject
  readonly headers: Readonly<Record<string, string>>
}

export interface Idempotency {
  /**
   * The key's identity, or undefined if the request carries none. `sent`: in place of a body that differs each time, since it names
   * new files. Throws INVALID_QUERY for a key that cannot be one.
   */
  keyOf(found: KeyOwner, request: RunRequest, sent?: JsonValue): IdempotencyKey | undefined
  /** The identity of a key that the trigger has calculated. Throws INVALID_BODY for one that is too long. */
  calculatedKey(found: KeyOwner, request: RunRequest, text: string, sent?: JsonValue): IdempotencyKey
  /**
   * The stored reply, if there is one; else undefined, and the key is taken until `release` is called. Waits while
   * another request works on the key.
   */
  take(key: IdempotencyKey): Promise<StoredReply | undefined>
  /** The stored reply, without waiting. */
  find(key: IdempotencyKey): Promise<StoredReply | undefined>
  release(key: IdempotencyKey): void
  /** Stores the reply in the run's own transaction. */
  keep(session: Session, key: IdempotencyKey, reply: Reply): MaybePromise<unknown>
}

/** The trigger that a key belongs to. */
export interface KeyOwner {
  readonly blueprint: string
  readonly endpoint: { readonly block: string }
}

export interface IdempotencyKey {
  readonly key: string
  readonly fingerprint: string
  readonly calculated?: true
}

export async function openIdempotency(database: Database, clock: Clock): Promise<Idempotency> {
  await database.ensure(systemStorages.idempotency, { indexes: [{ fields: ['key'], unique: true }] })
  const working = new Map<string, { readonly done: Promise<void>; readonly release: () => void }>()

  const stored = (key: IdempotencyKey) => storedReply(database, clock, key)

  function release({ key }: IdempotencyKey): void {
    working.get(key)?.release()
    working.delete(key)
  }

  return {
    find: stored,
    release,
    keyOf: headerKey,
    calculatedKey,
    async take(key) {
      for (let other = working.get(key.key); other; other = working.get(key.key)) await other.done
      const { promise: done, resolve } = Promise.withResolvers<void>()
      working.set(key.key, { done, release: resolve })
      try {
        const reply = await stored(key)
        if (reply) release(key)
        return reply
      } catch (error) {
        release(key)
        throw error
      }
    },
    keep(session, { calculated, ...key }, reply) {
      if (calculated && reply.code >= 400) return undefined
      const expires = Math.floor(clock() / 1000) + DAY
      const body =
        reply.value instanceof FileBody
          ? { text: null, file: reply.value.asset }
          : { text: replyText(reply) ?? null }
      const fields = { ...key, code: reply.code, ...body, headers: { ...reply.headers }, expires }
      return session.create(systemStorages.idempotency, setFields(fields), { expiry: expires })
    },
  }
}

/** Removes one that is past its day. */
async function storedReply(
  database: Pick<Database, 'session'>,
  clock: Clock,
  { key, fingerprint, calculated }: IdempotencyKey,
): Promise<StoredReply | undefined> {
  const session = database.session()
  const found = await session.find(
    systemStorages.idempotency,
    search({ query: { kind: 'term', field: 'key', value: key }, limit: 1 }),
  )
  const record = Array.isArray(found.documents.value) ? found.documents.value[0] : undefined
  if (!isJsonObject(record)) return undefined
  const { expires } = record
  if (typeof expires === 'number' && expires * 1000 <= clock()) {
    await transact(database, (writing) => writing.delete(systemStorages.idempotency, guidOf(record)))
    return undefined
  }
  if (record.fingerprint !== fingerprint && calculated) return readStored({ code: record.code ?? null })
  if (record.fingerprint !== fingerprint) {
    throw new QuoinError('CONFLICT', 'This idempotency-key was used for another request. Send a new key.')
  }
  const reply = readStored(record)
  if (reply.file && !(await session.get(systemStorages.assets, guidOf(reply.file))))
    throw new QuoinError(
      'CONFLICT',
      'This request was done before; the file that answered it has been deleted since.',
    )
  return reply
}

function headerKey(found: KeyOwner, request: RunRequest, sent?: JsonValue): IdempotencyKey | undefined {
  const header = request.headers['idempotency-key']
  if (header === undefined) return undefined
  if (typeof header !== 'string' || header === '' || header.length > LONGEST_KEY)
    throw new QuoinError(
      'INVALID_QUERY',
      `idempotency-key must be 1 to ${LONGEST_KEY} characters, sent once`,
      { fields: ['idempotency-key'] },
    )
  const sender = userOf(request) ?? request.ip
  return {
    key: digest([found.blueprint, found.endpoint.block, sender, header]),
    fingerprint: fingerprintOf(request, sent),
  }
}

function calculatedKey(
  { blueprint, endpoint }: KeyOwner,
  request: RunRequest,
  text: string,
  sent?: JsonValue,
): IdempotencyKey {
  if (text.length > LONGEST_CALCULATED)
    throw invalidField(
      'idempotency_key',
      `The key of the request must have at most ${LONGEST_CALCULATED} characters.`,
    )
  const parts = ['calculated', blueprint, endpoint.block, userOf(request) ?? '', text]
  return { key: digest(parts), fingerprint: fingerprintOf(request, sent), calculated: true }
}

function userOf({ user }: RunRequest): string | undefined {
  const meta = isJsonObject(user?._meta) ? user._meta : undefined
  return typeof meta?.guid === 'string' ? meta.guid : undefined
}

function fingerprintOf({ method, url, body }: RunRequest, sent: JsonValue | undefined): string {
  return digest([method, url, JSON.stringify(sent ?? body ?? null)])
}

function readStored(record: JsonObject): StoredReply {
  const { code, text, file, headers } = record
  const pairs = isJsonObject(headers) ? Object.entries(headers) : []
  return {
    code: typeof code === 'number' ? code : 200,
    text: typeof text === 'string' ? text : undefined,
    ...(isJsonObject(file) && { file }),
    headers: Object.fromEntries(
      pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
    ),
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
