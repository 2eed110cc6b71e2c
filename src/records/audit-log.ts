/**
 * Who changed what of Quoin's own records: one audit record for each write, in the same transaction, so that neither can
 * be there without the other. It is written by observers, and by `record` for what is no document; a second observer
 * refuses every other write to the audit storage, so that no endpoint can change it, not even one that is added by mistake.
 *
 * A record: `{ category, action, guid, name, blueprint, user: { guid, username }, changes, states: [before, after] }`. The states
 * are in a list because the shape of a storage (see `document-shape.ts`) does not look into lists: the fields of every
 * kind of record would fill it. Readers get them as `before` and `after`.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { pauses, runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import { setFields } from '../shared/mutation.ts'
import { type Change, type Database, documentOf, type Origin, type Session } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { AuditChain } from './audit-chain.ts'

/** What an audit record leaves out, or names otherwise. */
interface Hidden {
  /** Fields that are never shown, and the name under which a change of them is listed. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Fields that Quoin changes by itself while it works: only a change by a user counts. */
  readonly counters?: readonly string[]
  /** Fields that say nothing new, such as keys by which names are compared. */
  readonly derived?: readonly string[]
}

interface AuditedStorage extends Hidden {
  /** The resource, as permissions call it. */
  readonly category: string
  /** The field with the guid of the blueprint that the record belongs to. */
  readonly blueprint?: string
  /** Which changes count; all if not given. */
  readonly when?: (change: Change) => boolean
}

/** By the storage's name. */
export type AuditedStorages = Readonly<Record<string, AuditedStorage>>

/** The author of writes that no user asked for: the first administrator, for example. */
const system = { guid: '', username: 'system' }

const LARGEST_VALUE = 8_192
const LARGEST_STATE = 65_536

/** Also of many documents at once, which have one record that says how many. */
export type AuditedAction = Change['kind'] | 'imported' | 'exported' | 'used' | 'run' | 'undone'

/** A change of what has no observer: what is no document, or a document of a builder's storage that a manager changed. */
export interface AuditedChange {
  readonly category: string
  readonly action: AuditedAction
  /** Empty for what has none. */
  readonly guid: string
  readonly name: string
  /** What others may see of it; undefined where it was not there. */
  readonly before: JsonObject | undefined
  readonly after: JsonObject | undefined
  /** What of a state is written; all of it if not given. */
  readonly shown?: (state: JsonObject) => JsonObject
}

export interface AuditLog {
  /** Notes a change in this session's transaction, by the session's user. An update that changed nothing is none. */
  record(session: Session, change: AuditedChange): MaybePromise<void>
  /** Ends watching the storages. */
  close(): void
}

/** Begins to watch the storages. `chain` gets each record in its transaction. */
export async function openAuditLog(
  database: Database,
  audited: AuditedStorages,
  chain?: Pick<AuditChain, 'add'>,
): Promise<AuditLog> {
  await database.ensure(systemStorages.auditLogs, {
    indexes: [{ fields: ['category', '_meta.created'] }, { fields: ['guid'] }, { fields: ['user.guid'] }],
    text: true,
  })
  /** How many records are being written, by the origin of their sessions: a session around a session has the same one. */
  const writing = new WeakMap<Origin, number>()
  const count = ({ origin }: Session, more: number) =>
    void writing.set(origin, (writing.get(origin) ?? 0) + more)
  const write = (session: Session, record: JsonObject): MaybePromise<void> => {
    count(session, 1)
    // A record that cannot be written fails its transaction; another one of the same origin may be under way.
    return andThen(session.create(systemStorages.auditLogs, setFields(record)), (stored) => {
      count(session, -1)
      return chain?.add(session, stored)
    })
  }
  const watches = Object.entries(audited).map(([name, resource]) =>
    database.observe(name, (session, change): MaybePromise<void> => {
      if (resource.when?.(change) === false) return undefined
      return andThen(parseLarge(change), () => {
        const record = auditRecord(resource, change, session.origin.user)
        return record && write(session, record)
      })
    }),
  )
  const wall = database.observe(systemStorages.auditLogs, (session, { kind }) => {
    if (kind !== 'created' || (writing.get(session.origin) ?? 0) === 0)
      throw new QuoinError('INTERNAL', 'The audit log is written by Quoin alone and cannot be changed.')
  })
  return {
    record(session, { before, after, shown, ...change }) {
      const record = recordOf({}, { ...change, was: before, is: after }, session.origin.user, shown)
      return record && write(session, record)
    },
    close() {
      for (const end of [...watches, wall]) end()
    },
  }
}

/** Parses a large record in turns of the event loop: a deployment of 10,000 blocks takes 60 ms. */
function parseLarge({ before, after }: Change): MaybePromise<void> {
  const large = [before, after].filter((one) => one && one.text.length > LARGEST_STATE)
  if (large.length === 0) return undefined
  const pause = pauses()
  // The write of it was a turn by itself.
  return large.reduce(
    (parsed, one) => parsed.then(() => one && runCooperatively(one.inSteps(), pause)).then(() => undefined),
    nextTurn<void>(),
  )
}

type User = { readonly guid: string; readonly username: string } | undefined

function auditRecord(
  resource: AuditedStorage,
  { kind, guid, before, after }: Change,
  user: User,
): JsonObject | undefined {
  const was = before && documentOf(before)
  const is = after && documentOf(after)
  const name = nameOf(is ?? was ?? {})
  const blueprint = resource.blueprint === undefined ? undefined : (is ?? was)?.[resource.blueprint]
  const reported = { category: resource.category, action: kind, guid, name, was, is }
  return recordOf(resource, typeof blueprint === 'string' ? { ...reported, blueprint } : reported, user)
}

interface ReportedChange extends Omit<AuditedChange, 'before' | 'after' | 'shown'> {
  readonly blueprint?: string
  readonly was: JsonObject | undefined
  readonly is: JsonObject | undefined
}

/** Undefined for an update that changed nothing. */
function recordOf(
  hidden: Hidden,
  { was, is, ...reported }: ReportedChange,
  user: User,
  visible: (state: JsonObject) => JsonObject = (whole) => whole,
): JsonObject | undefined {
  const { action } = reported
  const { changes, shown } =
    action === 'updated'
      ? changed(hidden, was ?? {}, is ?? {}, user !== undefined)
      : whole(hidden, is ?? was ?? {})
  if (action === 'updated' && changes.length === 0) return undefined
  return {
    ...reported,
    user: user ? { guid: user.guid, username: user.username } : system,
    changes,
    states: [
      !was || action === 'created' || action === 'restored' ? null : visible(state(was, shown)),
      !is || action === 'removed' || action === 'deleted' ? null : visible(state(is, shown)),
    ],
  }
}

interface Changed {
  /** Names for `changes`. */
  readonly changes: readonly string[]
  /** Fields of which the states tell. */
  readonly shown: readonly string[]
}

function changed(hidden: Hidden, was: JsonObject, is: JsonObject, byUser: boolean): Changed {
  const { secrets = {}, counters = [], derived = [] } = hidden
  const fields = Object.keys({ ...was, ...is }).filter(
    (field) => field !== '_meta' && !derived.includes(field) && !isDeepStrictEqual(was[field], is[field]),
  )
  const counted = byUser
    ? fields
    : fields.filter((field) => !counters.includes(field) && !Object.hasOwn(secrets, field))
  return {
    changes: counted.map((field) => (Object.hasOwn(secrets, field) ? (secrets[field] ?? '') : field)),
    shown: counted.filter((field) => !Object.hasOwn(secrets, field)),
  }
}

function whole({ secrets = {}, counters = [], derived = [] }: Hidden, record: JsonObject): Changed {
  const shown = Object.keys(record).filter(
    (field) =>
      field !== '_meta' &&
      !derived.includes(field) &&
      !counters.includes(field) &&
      !Object.hasOwn(secrets, field),
  )
  return { changes: [], shown }
}

/** The fields of a record, with the size of what is too large for a log in its place. */
function state(record: JsonObject, fields: readonly string[]): JsonObject {
  let left = LARGEST_STATE
  const recorded: Record<string, JsonValue> = {}
  for (const field of fields) {
    const value = record[field]
    if (value === undefined) continue
    const size = JSON.stringify(value).length
    const fits = size <= LARGEST_VALUE && size <= left
    if (fits) left -= size
    recorded[field] = fits ? value : { left_out: size }
  }
  return recorded
}

/** What people call the record. */
function nameOf(record: JsonObject): string {
  const name = ['username', 'name', 'title', 'type', 'rule_type'].map((field) => record[field])
  const [found] = name.filter((value) => typeof value === 'string' && value !== '')
  if (typeof found === 'string') return found
  // A deployment; the next record is of its blueprint.
  return typeof record.number === 'number' ? `Version ${record.number}` : ''
}
