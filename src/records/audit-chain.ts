/**
 * Proof that the audit log is as it was written: a chain of hashes over its records. The transaction of a record also
 * stores the record's hash, as an entry of the chain that has no place yet. A second later one node gives such entries
 * their places, each with a hash over the entry before it. So a write waits for no other write, as it would if it had to
 * know the end of the chain; and a record that is changed, removed, added or moved later does not fit its entry.
 *
 * Who can write to the database could compute a whole new chain. Against that the end of each day's chain is signed with a
 * key that is made from the key of the secrets, which is in no database and no backup (RFC 8032, Ed25519).
 *
 * An entry: `{ record, hash, waiting }`, then also `{ place, at, chain }`: 1, 2, 3, …; milliseconds since 1970; and
 * `sha256(previous chain, place, at, record, hash)`. The entry at place 1 counts the records that were there before.
 */
import { sign } from 'node:crypto'
import type { Clock } from '../shared/clock.ts'
import { pauses, yieldToEventLoop } from '../shared/cooperative.ts'
import type { JsonObject } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, type Query } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import type { StoredJson } from '../storage/stored-json.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import {
  type AuditKey,
  type AuditKeys,
  BATCH,
  byPlace,
  type ChainCheck,
  type ChainStep,
  chained,
  checkStep,
  dayOf,
  entryOf,
  hashOf,
  oldestFirst,
  privateKey,
  publicKeyOf,
  signedText,
} from './audit-chain-proof.ts'
import { periodicTask } from './periodic-task.ts'

const { auditChain, auditCheckpoints, auditLogs } = systemStorages

const SOON = 1_000
const EVERY = 60_000
/** Failures in a row that are reported: the third, so that a conflict of nodes is none, and then about one an hour. */
const REPORTED = 3
const AGAIN = 60

export interface AuditChain {
  /** Stores the record's hash, in the transaction of the record. */
  add(session: Session, record: StoredJson): MaybePromise<void>
  /** Gives all waiting entries their places; how many there were. One node at a time. */
  seal(): Promise<number>
  /** Calls back when entries have had no place for three tries in a row, and then each 60 tries. */
  onFailure(report: (message: string) => void): void
  /** One step of a check: at most 200 records. Without `from`, the first one; it gives waiting entries their places. */
  check(from?: ChainStep): Promise<ChainCheck>
  /** All records with their entries as lines of JSON, in the order of the chain, then the checkpoints. */
  lines(): AsyncGenerator<string>
  close(): Promise<void>
}

export interface AuditChainOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: AuditKeys
  /** As in `SignedDays`. */
  readonly signedSince?: number
  /** Only `seal` gives places: for commands on a data directory, and for tests. */
  readonly offline?: boolean
}

export async function openAuditChain({
  database,
  clock,
  keys,
  signedSince: since = 0,
  offline = false,
}: AuditChainOptions): Promise<AuditChain> {
  await database.ensure(auditChain, {
    indexes: [
      { fields: ['place'], unique: true },
      { fields: ['waiting', '_meta.cms'] },
      { fields: ['record'] },
    ],
  })
  await database.ensure(auditCheckpoints, { indexes: [{ fields: ['place'], unique: true }] })
  const alone = <T>(work: () => Promise<T>) => database.capabilities.withClusterLock('audit chain', work)
  await alone(() => beginChain(database, clock))
  const sealAll = async () => {
    let total = 0
    for (;;) {
      const sealed = await transact(database, (session) => sealBatch(session, clock(), keys.current))
      total += sealed
      if (sealed < BATCH) return total
      await yieldToEventLoop()
    }
  }
  const sealing = countedSeal(() => alone(sealAll))
  const { seal } = sealing
  // What fails is done by the next look; nothing is lost.
  const attempt = () => seal().catch(() => 0)
  const look = offline ? undefined : periodicTask(() => EVERY, attempt)
  const later = looksLater(attempt)
  return {
    add(session, stored) {
      if (!offline) later.begin()
      const record = documentOf(stored)
      const entry = { record: guidOf(record), hash: hashOf(record), waiting: true }
      return andThen(session.create(auditChain, setFields(entry)), () => undefined)
    },
    seal,
    onFailure: sealing.onFailure,
    async check(from) {
      if (from === undefined) await seal()
      return checkStep(database, { keys, since }, from)
    },
    lines: () => chainLines(database),
    async close() {
      await Promise.all([later.close(), look?.close()])
    },
  }
}

/** Twice behind each record: at the first time its transaction may be under way still, or another one in the way. */
function looksLater(attempt: () => Promise<number>) {
  let soon: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()
  let isAdded = false
  let isClosed = false
  const plan = () => {
    soon ??= setTimeout(() => {
      soon = undefined
      const again = isAdded
      isAdded = false
      last = attempt().then(() => {
        if (again && !isClosed) plan()
      })
    }, SOON).unref()
  }
  return {
    begin() {
      isAdded = true
      plan()
    },
    async close() {
      isClosed = true
      clearTimeout(soon)
      await last
    },
  }
}

/** Reports failures in a row. */
function countedSeal(work: () => Promise<number>): Pick<AuditChain, 'seal' | 'onFailure'> {
  let failures = 0
  let report: (message: string) => void = () => undefined
  return {
    async seal() {
      try {
        const sealed = await work()
        failures = 0
        return sealed
      } catch (error) {
        failures += 1
        if (failures % AGAIN === REPORTED) report(failureText(failures, error))
        throw error
      }
    },
    onFailure(called) {
      report = called
    },
  }
}

function failureText(failures: number, error: unknown): string {
  return `Records of the audit log could not be added to its chain ${failures} times in a row: ${String(error)}. They are stored, and are added when this works again.`
}

/** The first entry says how many records there are that no entry can be about. */
async function beginChain(database: Database, clock: Clock): Promise<void> {
  const session = database.session()
  const [first] = await findAll(session, auditChain, { kind: 'term', field: 'place', value: 1 }, 1)
  if (first) return
  const older = database.has(auditLogs) ? await session.count(auditLogs, matchAll) : 0
  const entry = { place: 1, at: clock(), record: '', hash: `older ${older}` }
  const fields = { ...entry, chain: chained('', entry), waiting: false }
  await transact(database, async (writing) => writing.create(auditChain, setFields(fields)))
}

/** The place of the last entry. */
export async function endOfChain(database: Database): Promise<number> {
  return (await endOf(database.session()))?.place ?? 0
}

async function endOf(session: Session): Promise<ReturnType<typeof entryOf> | undefined> {
  const placed: Query = { kind: 'range', field: 'place', bounds: { gte: 1 } }
  const [last] = await findAll(session, auditChain, placed, 1, [
    { field: 'place', order: 'desc', missing: 'last' },
  ])
  return last && entryOf(last)
}

async function sealBatch(session: Session, now: number, key: AuditKey | undefined): Promise<number> {
  const waiting: Query = { kind: 'term', field: 'waiting', value: true }
  const entries = await findAll(session, auditChain, waiting, BATCH, oldestFirst)
  const end = entries.length > 0 ? await endOf(session) : undefined
  if (end === undefined) return 0
  if (dayOf(end.at) !== dayOf(now)) await addCheckpoint(session, end, key)
  let { place, chain } = end
  // A clock that goes back does not take the chain to a day before.
  const at = Math.max(now, end.at)
  const pause = pauses()
  for (const stored of entries) {
    await pause()
    place += 1
    const entry = { place, at, record: textIn(stored.record), hash: textIn(stored.hash) }
    chain = chained(chain, entry)
    await session.update(auditChain, guidOf(stored), setFields({ place, at, chain, waiting: false }))
  }
  return entries.length
}

/** Signs the end of a day's chain, when the first entry of a later day follows. Without a key it is not signed. */
async function addCheckpoint(
  session: Session,
  { place, chain }: { readonly place: number; readonly chain: string },
  key: AuditKey | undefined,
): Promise<void> {
  const signature = key ? sign(null, signedText(place, chain), privateKey(key)).toString('base64url') : ''
  const fields = { place, chain, key: key?.id ?? '', signature, public_key: key ? publicKeyOf(key) : '' }
  await session.create(auditCheckpoints, setFields(fields))
}

/** An entry of the chain with its record; null for the entry at place 1, and for a record that is gone. */
export interface ChainedRecord {
  readonly place: number
  readonly at: number
  readonly hash: string
  readonly chain: string
  readonly record: string
  readonly audit: JsonObject | null
}

/** Those behind a place, in order. */
export async function readChain(database: Database, from: number, most: number): Promise<ChainedRecord[]> {
  const session = database.session()
  const after: Query = { kind: 'range', field: 'place', bounds: { gt: from } }
  const read: ChainedRecord[] = []
  const entries = await findAll(session, auditChain, after, most, byPlace)
  // On SQLite nothing of this waits: without pauses a whole export is one turn of the event loop.
  const pause = pauses()
  for (const { record, ...entry } of entries.map(entryOf)) {
    await pause()
    const stored = record === '' ? undefined : await session.get(auditLogs, record, { removed: true })
    read.push({ ...entry, record, audit: stored ? documentOf(stored) : null })
  }
  return read
}

async function* chainLines(database: Database): AsyncGenerator<string> {
  const session = database.session()
  for (let from = 0; ; ) {
    const entries = await readChain(database, from, BATCH)
    await yieldToEventLoop()
    for (const entry of entries) {
      yield `${JSON.stringify(entry)}\n`
      from = entry.place
    }
    if (entries.length < BATCH) break
  }
  for (let from = 0; ; ) {
    const after: Query = { kind: 'range', field: 'place', bounds: { gt: from } }
    const checkpoints = await findAll(session, auditCheckpoints, after, BATCH, byPlace)
    await yieldToEventLoop()
    for (const { _meta, ...checkpoint } of checkpoints) {
      yield `${JSON.stringify({ checkpoint })}\n`
      from = numberIn(checkpoint.place)
    }
    if (checkpoints.length < BATCH) return
  }
}
