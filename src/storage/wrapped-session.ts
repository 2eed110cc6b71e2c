/**
 * Sessions around sessions. A wrapper extends one of these classes and overrides only the members that it changes.
 *
 * `WrappedSession` passes on every member except those that give fields their values: these are abstract, so each subclass
 * has to define them. `TransparentSession` passes them on as well. A new member of `Session` does not compile until
 * `WrappedSession` has it, as a method or, where it gives fields values, as an abstract one.
 *
 * Classes, and no object made of closures or Proxy: a run makes a session and calls it a few times, so what counts is
 * that making one costs nothing but its fields.
 */
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { Query, Search } from '../shared/query.ts'
import type { Aggregate } from './aggregate/aggregate.ts'
import type { Claims, LockMode, NumberRequest } from './claims.ts'
import { createAll } from './create-all.ts'
import {
  asStored,
  type CreatedAll,
  type CreateOptions,
  type Database,
  type FoundWithTotal,
  type NewDocument,
  type Origin,
  type Session,
  type SessionShortcuts,
  type Transaction,
  type WriteCondition,
  type Written,
} from './database.ts'
import { findWithTotal } from './find-documents.ts'
import type { NewJob } from './job.ts'
import type { StoredJson } from './stored-json.ts'

export abstract class WrappedSession implements Session, Claims, Transaction, Required<SessionShortcuts> {
  /** Only declared: a field that a base class initialises makes a session twice as dear (45 ns and not 21). */
  declare protected readonly session: Session

  constructor(session: Session) {
    this.session = session
  }

  get origin(): Origin {
    return this.session.origin
  }

  get claims(): Claims {
    return this
  }

  get transaction(): Transaction {
    return this
  }

  get hasWritten(): boolean {
    return this.session.transaction.hasWritten
  }

  get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.session.get(storage, guid, options)
  }

  find(storage: string, search: Search) {
    return this.session.find(storage, search)
  }

  findWithTotal(storage: string, search: Search): MaybePromise<FoundWithTotal> {
    return findWithTotal(this.session, storage, search)
  }

  asStored(storage: string, query: Query): MaybePromise<Query> {
    return asStored(this.session, storage, query)
  }

  count(storage: string, query: Query, includeRemoved?: boolean) {
    return this.session.count(storage, query, includeRemoved)
  }

  aggregate(storage: string, requested: Aggregate) {
    return this.session.aggregate(storage, requested)
  }

  abstract create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): MaybePromise<StoredJson>

  abstract createAll(storage: string, documents: readonly NewDocument[]): MaybePromise<CreatedAll>

  abstract update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written>

  setRemoved(storage: string, guid: string, removed: boolean, options?: WriteCondition) {
    return this.session.setRemoved(storage, guid, removed, options)
  }

  delete(storage: string, guid: string, options?: WriteCondition) {
    return this.session.delete(storage, guid, options)
  }

  findByUniqueKey(storage: string, by: readonly string[], document: JsonObject) {
    return this.session.claims.findByUniqueKey(storage, by, document)
  }

  lockDocuments(storage: string, guids: readonly string[], use: LockMode) {
    return this.session.claims.lockDocuments(storage, guids, use)
  }

  numbers(storage: string, field: string, requested: NumberRequest) {
    return this.session.claims.numbers(storage, field, requested)
  }

  enqueue(job: NewJob) {
    return this.session.enqueue(job)
  }

  commit(): MaybePromise<void> {
    return this.session.transaction.commit()
  }

  rollback(): MaybePromise<void> {
    return this.session.transaction.rollback()
  }

  endJob(other?: string) {
    return this.session.transaction.endJob(other)
  }
}

export class TransparentSession extends WrappedSession {
  override create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    return this.session.create(storage, mutations, options)
  }

  override createAll(storage: string, documents: readonly NewDocument[]) {
    return createAll(this.session, storage, documents)
  }

  override update(storage: string, guid: string, mutations: readonly Mutation[], options?: WriteCondition) {
    return this.session.update(storage, guid, mutations, options)
  }
}

/** Documents are written through sessions and nowhere else, so what those are has to be said. */
export type DatabaseChanges = Pick<Database, 'session'> & Partial<Database>

/**
 * A database that passes every call to `database`, except for the members in `changes`. A new member of `Database` does not
 * compile until it is passed on here; one that writes documents belongs into {@link DatabaseChanges}. Members are bound
 * instead of called with named arguments, so that an argument that a member gets later is passed on too.
 */
export function wrappedDatabase(database: Database, changes: DatabaseChanges): Database {
  return {
    ensure: database.ensure.bind(database),
    drop: database.drop.bind(database),
    has: database.has.bind(database),
    names: database.names.bind(database),
    observe: database.observe.bind(database),
    capabilities: database.capabilities,
    close: database.close.bind(database),
    ...changes,
  }
}
