/**
 * What the chain of the audit log is made of (`audit-chain.ts`), and whether the log fits it: checked step by step, so that
 * a log of millions holds no node.
 */
import { createPrivateKey, createPublicKey, hash as digest, hkdfSync, verify } from 'node:crypto'
import { yieldToEventLoop } from '../shared/cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { matchAll, type Query, type SortKey, search } from '../shared/query.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll, findPage } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

const { auditChain, auditCheckpoints, auditLogs } = systemStorages

/** Entries in one transaction, or in one step of a check: 200 records of at most 130 KB are hashed in turns. */
export const BATCH = 200
/** Named in one step. */
const MOST_FAULTS = 100

export const byPlace: readonly SortKey[] = [{ field: 'place', order: 'asc', missing: 'last' }]
export const oldestFirst: readonly SortKey[] = [{ field: '_meta.cms', order: 'asc', missing: 'last' }]

/** The hash of a record, of its fields in the order of their names: engines and copies may write them in another order. */
export function hashOf(record: JsonObject): string {
  return digest('sha256', JSON.stringify(sorted(record)), 'base64url')
}

/** The nesting of documents is bounded. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => sorted(item))
  if (!isJsonObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]))
}

export interface Entry {
  readonly place: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly record: string
  readonly hash: string
}

export function chained(previous: string, { place, at, record, hash }: Entry): string {
  return digest('sha256', JSON.stringify([previous, place, at, record, hash]), 'base64url')
}

export function entryOf(stored: JsonObject): Entry & { readonly chain: string } {
  const { place, at, record, hash, chain } = stored
  return {
    place: numberIn(place),
    at: numberIn(at),
    record: textIn(record),
    hash: textIn(hash),
    chain: textIn(chain),
  }
}

/** UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / 86_400_000)
}

export function signedText(place: number, chain: string): Buffer {
  return Buffer.from(`quoin audit checkpoint ${place} ${chain}`)
}

/** PKCS #8 of an Ed25519 key is this and its 32 bytes (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export function privateKey(key: AuditKey) {
  const seed = Buffer.from(hkdfSync('sha256', key.bytes, '', 'quoin audit checkpoints', 32))
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

export function publicKeyOf(key: AuditKey): string {
  return createPublicKey(privateKey(key)).export({ format: 'der', type: 'spki' }).toString('base64url')
}

/** 32 bytes from which the key of the signatures is made, and its name. */
export interface AuditKey {
  readonly id: string
  readonly bytes: Buffer
}

export interface AuditKeys {
  /** Signs; undefined where there is none. */
  readonly current: AuditKey | undefined
  /** Check, by their names. */
  readonly all: ReadonlyMap<string, AuditKey>
}

export interface ChainFault {
  /** `broken`: entries of the chain are gone or do not follow; `forged`: a checkpoint or its signature is gone, or the signature does not hold. */
  readonly fault: 'changed' | 'removed' | 'added' | 'broken' | 'forged'
  /** Of the record; empty where the chain itself is at fault. */
  readonly record: string
  /** In the chain; 0 for a record that has no entry. */
  readonly place: number
  readonly message: string
}

/** Where a check goes on: in the chain, then in the log for records that the chain does not have. */
export type ChainStep =
  | { readonly part: 'chain'; readonly place: number }
  | { readonly part: 'log'; readonly cursor: string; readonly older: number }

export interface ChainCheck {
  /** Records that this step looked at. */
  readonly checked: number
  readonly faults: readonly ChainFault[]
  /** Checkpoints whose signature holds. */
  readonly signed: number
  /** Checkpoints of days that ended while there was no key. */
  readonly unsigned: number
  readonly next: ChainStep | undefined
}

/** Which days have to be signed: with a key all, or those since `since`. It stands outside of the database, which a forger could write. */
export interface SignedDays {
  readonly keys: AuditKeys
  /** Milliseconds since 1970, of the first such day; 0 where the settings name none. */
  readonly since: number
}

/** Without `from`, the first step. */
export async function checkStep(
  database: Database,
  days: SignedDays,
  from: ChainStep | undefined,
): Promise<ChainCheck> {
  return from?.part === 'log' ? checkLog(database, from) : checkChain(database, days, from?.place ?? 0)
}

async function checkChain(database: Database, days: SignedDays, from: number): Promise<ChainCheck> {
  const session = database.session()
  const within: Query = { kind: 'range', field: 'place', bounds: { gte: Math.max(from, 1) } }
  const entries = (await findAll(session, auditChain, within, BATCH + 1, byPlace)).map(entryOf)
  const checkpoints = new Map(
    (await findAll(session, auditCheckpoints, within, BATCH + 1, byPlace)).map((one) => [
      numberIn(one.place),
      one,
    ]),
  )
  const found: ChainFault[] = []
  const add = (fault: ChainFault['fault'], record: string, place: number, message: string) =>
    void (found.length < MOST_FAULTS && found.push({ fault, record, place, message }))
  // The entry before those of this step was looked at by the step before.
  const before = from === 0 ? { place: 0, at: 0, chain: '' } : entries.shift()
  if (before === undefined || (from > 0 && before.place !== from))
    add('broken', '', from, `The entry ${from} of the chain is gone.`)
  const [start] = entries
  if (from === 0 && days.since > 0 && start && dayOf(start.at) > dayOf(days.since))
    add('forged', '', 1, `The chain begins after ${dateOf(days.since)}, since when days are signed.`)
  const missing = missingSignatures(session, days)
  let [checked, signed, unsigned] = [0, 0, 0]
  let previous = before ?? { place: from, at: 0, chain: '' }
  for (const entry of entries) {
    const { place, record } = entry
    if (place !== previous.place + 1)
      add('broken', record, place, `The chain goes from ${previous.place} to ${place}: entries are gone.`)
    else if (entry.chain !== chained(previous.chain, entry))
      add('broken', record, place, `The entry ${place} does not follow from the one before it.`)
    if (previous.place > 0 && dayOf(previous.at) !== dayOf(entry.at)) {
      const state = checkpointState(checkpoints.get(previous.place), previous, days.keys)
      const problem = state === 'unsigned' ? await missing(previous) : state
      if (state === 'signed') signed += 1
      else if (problem === undefined) unsigned += 1
      else add('forged', '', previous.place, problem)
    }
    if (record !== '') {
      const stored = await session.get(auditLogs, record, { removed: true })
      if (stored === undefined) add('removed', record, place, 'The record is gone.')
      else if (hashOf(documentOf(stored)) !== entry.hash)
        add('changed', record, place, 'The record is not what was written.')
      checked += 1
      await yieldToEventLoop()
    }
    previous = entry
  }
  const next: ChainStep =
    entries.length >= BATCH ? { part: 'chain', place: previous.place } : { part: 'log', cursor: '', older: 0 }
  return { checked, faults: found, signed, unsigned, next }
}

function checkpointState(
  checkpoint: JsonObject | undefined,
  { place, chain }: { readonly place: number; readonly chain: string },
  { all }: AuditKeys,
): 'signed' | 'unsigned' | (string & {}) {
  if (checkpoint === undefined) return `The checkpoint of the entry ${place} is gone.`
  const id = textIn(checkpoint.key)
  if (id === '' && checkpoint.chain === chain) return 'unsigned'
  const key = all.get(id)
  if (id !== '' && !key)
    return `The checkpoint of the entry ${place} is signed with the key ${id}, which this node does not have. Start with it in QUOIN_SECRETS_OLD_KEYS.`
  const signature = Buffer.from(textIn(checkpoint.signature), 'base64url')
  const holds =
    key !== undefined &&
    checkpoint.chain === chain &&
    verify(null, signedText(place, chain), createPublicKey(privateKey(key)), signature)
  return holds
    ? 'signed'
    : `The checkpoint of the entry ${place} does not hold: the chain before it was made again.`
}

/** Why a day without a signature has to have one; undefined for one that ended before there was a key. */
function missingSignatures(session: Session, { keys, since }: SignedDays) {
  let first: Promise<number> | undefined
  return async ({ place, at }: Pick<Entry, 'place' | 'at'>): Promise<string | undefined> => {
    first ??= firstSigned(session)
    if (place > (await first))
      return `The checkpoint of the entry ${place} has no signature, but an earlier one has: the chain was made again, or a node ran without the key.`
    const isRequired = keys.current !== undefined || since > 0
    return isRequired && dayOf(at) >= dayOf(since)
      ? `The checkpoint of the entry ${place}, of ${dateOf(at)}, has no signature, though this node has a key. If the key was set later, name its first day in QUOIN_AUDIT_SIGNED_SINCE.`
      : undefined
  }
}

async function firstSigned(session: Session): Promise<number> {
  const signed: Query = { kind: 'not', query: { kind: 'term', field: 'key', value: '' } }
  const [first] = await findAll(session, auditCheckpoints, signed, 1, byPlace)
  return first ? numberIn(first.place) : Number.POSITIVE_INFINITY
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Looks for records that have no entry. */
async function checkLog(database: Database, from: ChainStep & { part: 'log' }): Promise<ChainCheck> {
  const session = database.session()
  const [first] = await findAll(session, auditChain, { kind: 'term', field: 'place', value: 1 }, 1)
  const { at, hash } = entryOf(first ?? {})
  const page = await findPage(
    session,
    auditLogs,
    search({
      ...{ query: matchAll, sort: oldestFirst, limit: BATCH, includeRemoved: true },
      ...(from.cursor !== '' && { after: from.cursor }),
    }),
  )
  const guids = page.records.map(guidOf)
  const named: Query = { kind: 'terms', field: 'record', values: guids }
  const entries = await findAll(session, auditChain, named, BATCH)
  const known = new Set(entries.map((entry) => textIn(entry.record)))
  const unknown = page.records.filter((record) => !known.has(guidOf(record)))
  const added = unknown.filter((record) => createdAt(record) > at)
  const older = from.older + unknown.length - added.length
  const faults: ChainFault[] = added.map((record) => ({
    ...{ fault: 'added', record: guidOf(record), place: 0 },
    message: 'The record has no entry in the chain: Quoin did not write it, or a version that had no chain.',
  }))
  const isLast = page.next === undefined || page.records.length < BATCH
  if (isLast && hash !== `older ${older}`)
    faults.push({
      ...{ fault: 'broken', record: '', place: 1 },
      message: `There are ${older} records from before the chain; it began with ${hash.replace('older ', '')}.`,
    })
  const next = isLast ? undefined : ({ part: 'log', cursor: page.next ?? '', older } as const)
  return { checked: 0, faults: faults.slice(0, MOST_FAULTS), signed: 0, unsigned: 0, next }
}

function createdAt({ _meta: meta }: JsonObject): number {
  return isJsonObject(meta) ? numberIn(meta.cms) : 0
}
