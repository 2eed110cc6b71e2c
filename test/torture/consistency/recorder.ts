/** What clients did and were told, as the checks want it. Times are milliseconds of one monotonic clock. */
import type { DocumentInput, DocumentOutput } from './document-model.ts'
import type { Call } from './linearizable.ts'
import type { Change } from './one-moment.ts'

export type DocumentCall = Call<DocumentInput, DocumentOutput>

/** A list of all documents of a group. */
export interface List {
  readonly name: string
  readonly invoked: number
  readonly returned: number
  /** Token by key. */
  readonly documents: ReadonlyMap<string, string>
  readonly total: number
  readonly count: number
}

/** Several at once who want the same name. */
export interface Race {
  readonly name: string
  readonly won: number
  readonly refused: number
  readonly unknown: number
}

/** An order under an idempotency key. */
export interface Order {
  readonly key: string
  readonly acknowledged: boolean
}

export interface Recorder {
  /** By guid; the first call made the document. */
  readonly registers: Map<string, DocumentCall[]>
  readonly changes: Change[]
  readonly lists: List[]
  readonly races: Race[]
  readonly orders: Order[]
  /** Answers that no call may have. */
  readonly unexpected: string[]
  /** Calls, answered or not. */
  calls: number
  lost: number
}

export function newRecorder(): Recorder {
  return {
    registers: new Map(),
    changes: [],
    lists: [],
    races: [],
    orders: [],
    unexpected: [],
    calls: 0,
    lost: 0,
  }
}
