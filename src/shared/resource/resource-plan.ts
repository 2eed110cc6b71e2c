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
  /** References that clients may follow. */
  readonly expand: readonly string[]
  readonly pageSize: number
  readonly maxPageSize: number
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
export function onlyFields({ expand }: ResourcePlan): string {
  const always = expand.length > 0 ? ['_meta', '_expand'] : ['_meta']
  return `concat(${JSON.stringify(always)}, params.fields.split(","))`
}

/** The parameter that names references to follow, and what it comes to: none where the resource follows none. */
export function expandParts({ expand }: ResourcePlan): {
  readonly schema: readonly JsonObject[]
  readonly pins: Readonly<Record<string, string>>
} {
  if (expand.length === 0) return { schema: [], pins: {} }
  const one = `(${expand.map((name) => name.replace(/[^\w]/g, '\\$&')).join('|')})`
  const named = `params.expand?.split(",") ?? []`
  return {
    schema: [{ name: 'expand', type: 'text', in: 'query', pattern: `^${one}(,${one})*$` }],
    // The names stand in the expression, so that the API document knows what may be expanded.
    pins: { expand: `=filter(${JSON.stringify(expand)}, one => contains(${named}, one))` },
  }
}

/** What the API document says of it. */
export function expandHelp({ expand }: ResourcePlan): string {
  if (expand.length === 0) return ''
  return ` \`expand=${expand.slice(0, 2).join(',')}\` adds the documents that these fields refer to, under \`_expand\`.`
}
