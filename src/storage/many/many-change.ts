/** One change to all documents that match, as data: it can wait in a job. */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { Query } from '../../shared/query.ts'

const manyKinds = ['update', 'remove', 'restore', 'delete'] as const
export type ManyKind = (typeof manyKinds)[number]

export interface ManyChange {
  readonly storage: string
  readonly kind: ManyKind
  readonly query: Query
  /** Whether removed documents count. */
  readonly includeRemoved: boolean
  /** For `update`. */
  readonly mutations: readonly Mutation[]
  /** Only documents that have this field, dotted, also where it is null. No query can ask that. */
  readonly having?: string
}

/** The restoring of the removed documents among those that match. */
export function restoring(storage: string, where: Query): ManyChange {
  const removed: Query = { kind: 'range', field: '_meta.removed', bounds: { gt: 0 } }
  const query: Query = { kind: 'and', queries: [removed, where] }
  return { storage, kind: 'restore', query, includeRemoved: true, mutations: [] }
}

/** For the payload of a job. */
export function manyChangePayload(change: ManyChange): JsonObject {
  const { storage, kind, query, includeRemoved, mutations, having } = change
  const plain: JsonObject = JSON.parse(JSON.stringify({ query, mutations }))
  const only = having !== undefined && { having }
  return { storage, change: kind, include_removed: includeRemoved, ...plain, ...only }
}

/** What {@link manyChangePayload} wrote. */
export function manyChangeIn(payload: JsonObject): ManyChange {
  const kind = manyKinds.find((one) => one === payload.change)
  if (kind === undefined || typeof payload.storage !== 'string')
    throw new Error('The job does not say what to change.')
  const written: Pick<ManyChange, 'query' | 'mutations'> = JSON.parse(JSON.stringify(payload))
  const { query, mutations } = written
  return {
    storage: payload.storage,
    kind,
    query,
    includeRemoved: payload.include_removed === true,
    mutations,
    ...(typeof payload.having === 'string' && { having: payload.having }),
  }
}

/** What no query can ask. */
export function isHaving({ having }: Pick<ManyChange, 'having'>, document: JsonObject): boolean {
  return having === undefined || valueAt(document, parseFieldPath(having)) !== undefined
}
