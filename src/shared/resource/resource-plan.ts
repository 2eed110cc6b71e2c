/** What the flows of a resource are made from, and a part of them as a blueprint file writes a block. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { ResourceHook, ResourceOperation } from './resource.ts'

export interface ResourcePart {
  readonly type: string
  readonly in: Readonly<Record<string, JsonValue>>
  readonly fields?: JsonObject
  readonly scopes?: readonly string[]
  /** Column and row on the canvas. */
  readonly at: readonly [number, number]
}

export interface ResourcePlan {
  readonly uri: string
  readonly storage: string
  readonly operations: ReadonlySet<ResourceOperation>
  readonly filters: readonly JsonValue[]
  readonly orders: readonly string[]
  readonly pageSize: number
  readonly permanent: boolean
  readonly readScopes: readonly string[]
  readonly writeScopes: readonly string[]
  /** Hooks that have a flow. */
  readonly hooks: ReadonlySet<ResourceHook>
  /** The function that runs them. */
  readonly hookFunction: string
  readonly nameOf: (part: string) => string
}

export type Parts = Readonly<Record<string, ResourcePart>>

/** Clients read and write what the rules of the storage let them. */
export const AS_USER = { as: 'user' } as const

/** The fields that a client names, in an expression. */
export const ONLY_FIELDS = 'concat(["_meta"], params.fields.split(","))'
