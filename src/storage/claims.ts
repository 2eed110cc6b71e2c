/** What a session holds against all others until it ends: values of unique keys, documents that stay, numbers. */
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'

export interface Claims {
  /**
   * Who has the value that this document has of a unique key, as a write would find it; undefined where one of the fields is
   * nothing. `by`: the key's fields, or its name. Throws UnknownKey when the storage has no such key in force.
   */
  findByUniqueKey(
    storage: string,
    by: readonly string[],
    document: JsonObject,
  ): MaybePromise<UniqueKeyMatch | undefined>
  /**
   * Locks those of these documents that are present until the session ends: meanwhile no other session removes one that is locked
   * for a reference, or writes a reference to one that is locked for its removal. A lock for a change is exclusive: the next session
   * gets it when this one ends, and sees what it committed. Where the storage does not exist nothing is locked.
   */
  lockDocuments(storage: string, guids: readonly string[], use: LockMode): MaybePromise<DocumentLock>
  /**
   * The first of `count` whole numbers in a row for a field. None of them is given again once a document that has one is
   * committed, also after it is deleted, until the storage is dropped; others may be left out.
   */
  numbers(storage: string, field: string, requested: NumberRequest): MaybePromise<number>
}

export type LockMode = 'reference' | 'removal' | 'change'

export interface DocumentLock {
  readonly guids: readonly string[]
  /** Of documents held for removal: the guids of present documents that refer to one of them with this field, at most `limit`. */
  referrers(storage: string, field: string, limit: number): MaybePromise<readonly string[]>
}

/** A value of a unique key, and the present document that has it. */
export interface UniqueKeyMatch {
  /** Name of the key. */
  readonly key: string
  /** undefined while no document has the value. */
  readonly guid: string | undefined
  /** Whether a document has the value. */
  has(document: JsonObject): boolean
}

/** Numbers that a field is given by the database: see `Session.numbers`. */
export interface NumberRequest {
  /** How many. 0: the next one, without giving it; those given later are `from` or above. */
  readonly count: number
  /** The smallest that may be given. */
  readonly from: number
}

/** The counter's key in the table `counter`. Names of storages have no blanks. */
export function counterName(storage: string, field: string): string {
  return `${countersOf(storage)}${field}`
}

/** What the names of a storage's counters begin with. */
export function countersOf(storage: string): string {
  return `${storage} `
}
