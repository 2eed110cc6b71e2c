/**
 * What Quoin asks of a database. Two engines keep this promise (`sqlite/`, and `postgres/` with the same file names);
 * `test/conformance/` proves it for each.
 *
 * Words
 * - storage: a named collection of documents. Names starting with `_` belong to Quoin itself.
 * - document: JSON object with `_meta`. Its text is kept as it is sent.
 * - session: what belongs together. Its writes become durable and visible together, at `commit`; it reads its own writes
 *   before that, and no other session does.
 *
 * How a session writes. The first write takes the engine's writer (SQLite: one for all; PostgreSQL: a transaction of its
 * own). On SQLite the writer is usually free and everything returns at once; while another session holds it, the write
 * returns a promise and waits its turn. `commit` resolves when the writes are on disk. `rollback` undoes what was
 * written since the last commit. After either the session can be used again. A session that keeps the writer for more
 * than five seconds is rolled back, and its next call throws UNAVAILABLE: so do slow things (hashing, requests) before
 * the first write or after the commit.
 *
 * Errors: INVALID_BODY (a mutation that does not fit, naming the field), INVALID_QUERY (a cursor or field name that
 * is not valid), CONFLICT (a unique index; UniqueConflict: a unique key), STORAGE_FULL, UNAVAILABLE, and INTERNAL for a storage that does not exist.
 */

import type { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { Query, Search } from '../shared/query.ts'
import type { Aggregate } from './aggregate/aggregate.ts'
import type { Aggregated } from './aggregate/finish-aggregate.ts'
import type { Capabilities } from './capabilities.ts'
import type { Claims } from './claims.ts'
import type { Needs } from './document-index.ts'
import type { JobLease, NewJob } from './job.ts'
import type { StoredJson } from './stored-json.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export interface Database {
  /**
   * Makes a storage if it does not exist, and what it lacks of `needs`. Durable when it resolves. Names: {@link storageNameProblem}.
   * `settlesUnique`: the caller alone changes what is unique, also of a storage whose fields were there before it.
   */
  ensure(name: string, needs?: Needs & { readonly settlesUnique?: boolean }): Promise<void>
  /** Removes a storage with all its documents. */
  drop(name: string): Promise<void>
  has(name: string): boolean
  names(): readonly string[]
  /** `origin`: on whose behalf, for observers. Without it, on behalf of no one. */
  session(origin?: Origin): Session
  /**
   * Calls the observer after each write to the storage, in the same transaction: what it writes through the session is
   * committed or rolled back with the document. The write throws what the observer throws. Returns a function that ends it.
   */
  observe(name: string, observer: Observer): () => void
  readonly capabilities: Capabilities
  /** Waits for commits under way, then lets go of the files. */
  close(): Promise<void>
}

/** Who is at the start of a chain of writes, and how far along the chain this one is. */
export interface Origin {
  readonly user?: { readonly guid: string; readonly username: string }
  /** Guid of the run that writes. */
  readonly run?: string
  /** How many events of storages led here. */
  readonly depth?: number
  /** How many tools of `/mcp`, here and on other servers, led here. */
  readonly hops?: number
  /** Where its run is in a distributed trace: what it causes belongs to it. As the header `traceparent` writes it. */
  readonly trace?: string | undefined
  /** The job that the run is an attempt of, for `Transaction.endJob`. */
  readonly job?: JobLease | undefined
  /** Caused by a flow that a failure has started: what fails here starts none. */
  readonly afterFailure?: boolean | undefined
  /** Its reads must still hold when it writes: see `unit-of-work.ts`. */
  readonly unit?: UnitOfWork | undefined
  /**
   * Its work can be done once more: its first update may be of what is committed, without a lock. Throws SerializationConflict, at the
   * latest when it commits, if others have changed the document meanwhile; nothing of it is stored then.
   */
  readonly optimistic?: boolean | undefined
  /** All that it writes is rolled back, so it takes no numbers, and its documents are without them. */
  readonly trial?: true
  /** When its run has to be over, in milliseconds since 1970: it waits no longer for its turn with a document that others change. */
  readonly until?: number
  /**
   * Work of the system that computes between its statements for as long as it takes, such as a release of many blueprints: it may rest
   * for a minute, not for five seconds, and goes on for as long as it does something. Never set for what a flow or a client holds.
   */
  readonly isLong?: true
  /** May use the room that the embedded engine keeps for a full disk, as deletes may: for signing in. */
  readonly reserve?: true
}

/** One write to one document, as observers are told. */
export interface Change {
  readonly storage: string
  readonly kind: 'created' | 'updated' | 'removed' | 'restored' | 'deleted'
  readonly guid: string
  /** undefined when it was created. */
  readonly before: StoredJson | undefined
  /** undefined when it was deleted. */
  readonly after: StoredJson | undefined
}

export type Observer = (session: Session, change: Change) => MaybePromise<void>

/** `claims` and `transaction` are the session itself in every class, so that they cost no object. */
export interface Session {
  readonly origin: Origin
  /** One document by guid, as it is stored; undefined if there is none, or if it is removed and `removed` is not set. */
  get(
    storage: string,
    guid: string,
    options?: { readonly removed?: boolean },
  ): MaybePromise<StoredJson | undefined>
  find(storage: string, search: Search): MaybePromise<Found>
  /** How many documents match. `includeRemoved` as in a search. */
  count(storage: string, query: Query, includeRemoved?: boolean): MaybePromise<number>
  /** Figures of groups of present documents, of one moment. */
  aggregate(storage: string, requested: Aggregate): MaybePromise<Aggregated>
  /** A new document: the mutations applied to an empty one. CONFLICT if there is one with the given guid, removed or not. */
  create(storage: string, mutations: readonly Mutation[], options?: CreateOptions): MaybePromise<StoredJson>
  /** Removed documents are not found. */
  update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written>
  /**
   * true: a soft delete, so that searches no longer find the document. false: undoes it. Not found if it is so already.
   */
  setRemoved(storage: string, guid: string, removed: boolean, options?: WriteCondition): MaybePromise<Written>
  /** Hard delete, also of a removed document. `document` is what it was. */
  delete(storage: string, guid: string, options?: WriteCondition): MaybePromise<Written>
  /**
   * Work for later, in this transaction. Gives the job's guid, or undefined when a live job has its dedupe key. Throws
   * INVALID_BODY for what no job can be.
   */
  enqueue(job: NewJob): MaybePromise<string | undefined>
  readonly claims: Claims
  readonly transaction: Transaction
}

/** The end of what a session has written. */
export interface Transaction {
  /** Whether there are writes that `commit` would make durable: reads of this session see them, other sessions do not. */
  readonly hasWritten: boolean
  /** undefined when nothing had been written; else resolves when it is durable. */
  commit(): MaybePromise<void>
  rollback(): MaybePromise<void>
  /**
   * Ends the job of the session's origin as done, with the commit that follows. False when its lease is lost: then nothing may
   * be committed, because another worker has the job. With the guid of another one: as `cancel` of jobs; false where there is none.
   */
  endJob(other?: string): MaybePromise<boolean>
}

/** What an engine may do in one step where a session needs several. Called through create-all.ts and find-documents.ts only. */
export interface SessionShortcuts {
  /** A page and how many documents match on all pages, both of one moment. */
  findWithTotal?(storage: string, search: Search): MaybePromise<FoundWithTotal>
  /** Many new documents. Observers are told when all are written. */
  createAll?(storage: string, documents: readonly NewDocument[]): MaybePromise<CreatedAll>
  /** The query as a search of this session asks it: to hold it against a document that was read. Asked through {@link asStored} only. */
  asStored?(storage: string, query: Query): MaybePromise<Query>
}

/** The query as a search of the session asks it, by what the fields of the storage say of their values. */
export function asStored(
  session: Session & Pick<SessionShortcuts, 'asStored'>,
  storage: string,
  query: Query,
): MaybePromise<Query> {
  return session.asStored?.(storage, query) ?? query
}

export interface CreateOptions {
  /** Unix seconds; -1 (never) if not given. */
  readonly expiry?: number
  /** For documents that were somewhere else before: the guid they had there. Checked by who calls (`isGuid`). */
  readonly guid?: string
  /** And when they were made, in milliseconds since 1970. */
  readonly cms?: number
  /** It was here before: it keeps the number and the creator that it has. */
  readonly restored?: true
}

export interface NewDocument {
  readonly mutations: readonly Mutation[]
  readonly options?: CreateOptions | undefined
}

/** `documents`: those that were made. `refused`: why the one behind them was not, INVALID_BODY or CONFLICT; undefined if all were made. */
export interface CreatedAll {
  readonly documents: readonly StoredJson[]
  readonly refused: QuoinError | undefined
}

export interface Found {
  /** A JSON array of documents, as text. */
  readonly documents: StoredJson
  /** How many are in `documents`. */
  readonly length: number
  /** Cursor behind the last document; undefined when the page was not full or is in relevance order. Parses that document. */
  next(): string | undefined
}

export interface FoundWithTotal {
  readonly found: Found
  /** How many documents match on all pages. */
  readonly total: number
}

/** What must hold of a document for a change to be made, as it is when no other transaction can change it. */
export interface WriteCondition {
  /** Must still be the document's. */
  readonly updateHash?: string
  /** Looks at the document before the change, which is parsed only if asked for. What it throws leaves the document as it is. */
  readonly allows?: (document: StoredJson) => boolean
  /**
   * Of an update: looks at the document as the mutations make it, without `_meta`, and gives more of them for the same write.
   * What it throws leaves the document as it is.
   */
  readonly complete?: (after: JsonObject) => readonly Mutation[]
  /** Documents that get the same change in this session behind this one, in this order: what each needs is taken for all at once. */
  readonly following?: readonly string[]
  /** Of a hard delete: CONFLICT where another document refers to this one, whatever its reference says of that. */
  readonly unreferred?: true
}

export type Written =
  /** `before` is what it was; `document` what it is now, or was last when it is deleted. */
  | { readonly outcome: 'written'; readonly document: StoredJson; readonly before: StoredJson }
  | { readonly outcome: 'not_found' }
  /** `updateHash` is no longer the document's; `document` is what it is now. */
  | { readonly outcome: 'conflict'; readonly document: StoredJson }
  /** The condition does not allow it; `document` is what it is. */
  | { readonly outcome: 'refused'; readonly document: StoredJson }

/** A document's text with its `_meta`, parsed. */
export function documentOf(stored: StoredJson): JsonObject {
  const value = stored.value
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('A document is an object.')
  return value as JsonObject
}
