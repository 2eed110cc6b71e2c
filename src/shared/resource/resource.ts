/** What a resource block serves, read from its settings: the same for the server, which compiles it, and the studio. */
import type { BlockContent } from '../blueprint.ts'
import { fieldNameProblem } from '../field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

export const RESOURCE_TYPE = 'on_startup_register_resource'

export const resourceOperations = ['list', 'read', 'create', 'change', 'remove'] as const
export type ResourceOperation = (typeof resourceOperations)[number]

export const resourceHooks = ['before_create', 'before_change', 'before_remove', 'after_write'] as const
export type ResourceHook = (typeof resourceHooks)[number]

/** Parameters of the list itself, and those of the paths. */
const TAKEN: ReadonlySet<string> = new Set(['limit', 'offset', 'after', 'order', 'count', 'fields', 'guid'])
/** Those whose values a document can equal. */
const FILTER_TYPES: ReadonlySet<string> = new Set([
  'text',
  'line',
  'number',
  'whole number',
  'condition',
  'day',
])
const MOST_ORDERS = 8
const MOST_EXPAND = 16
export const PAGE_SIZE = 20
export const MOST_ON_PAGE = 10_000

/** What a resource block says of itself. */
type Drawn = Pick<BlockContent, 'in_pins' | 'fields'>

export interface ResourceSettings {
  readonly operations: readonly string[]
  readonly filters: readonly JsonValue[]
  readonly orders: readonly string[]
  readonly expand: readonly string[]
  readonly page_size: number
  readonly max_page_size: number
  readonly removal: string
  readonly write_scopes: readonly string[]
}

/** The settings as they are saved; those that are missing or of another type are as if they were not set. */
export function resourceSettingsOf(fields: JsonObject): ResourceSettings {
  const names = (value: JsonValue | undefined) =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  const { operations, filters, orders, expand, page_size, max_page_size, removal, write_scopes } = fields
  return {
    operations: names(operations),
    filters: Array.isArray(filters) ? filters : [],
    orders: names(orders),
    expand: names(expand),
    page_size: typeof page_size === 'number' ? page_size : PAGE_SIZE,
    max_page_size: typeof max_page_size === 'number' ? max_page_size : MOST_ON_PAGE,
    removal: removal === 'permanent' ? 'permanent' : 'restorable',
    write_scopes: names(write_scopes),
  }
}

/** What is wrong with the settings, in words that finish "<setting> …". */
export function resourceProblem({
  operations,
  filters,
  orders,
  expand,
  page_size,
  max_page_size,
}: ResourceSettings): { readonly setting: string; readonly message: string } | undefined {
  const unknown = operations.find((name) => !resourceOperations.some((one) => one === name))
  if (unknown !== undefined)
    return {
      setting: 'operations',
      message: `has ${JSON.stringify(unknown)}, which is none of ${resourceOperations.join(', ')}`,
    }
  const taken = filters.find((field) => isJsonObject(field) && isTaken(String(field.name), expand))
  if (isJsonObject(taken))
    return { setting: 'filters', message: `has ${String(taken.name)}, which is a parameter of each list` }
  if (filters.some((field) => isJsonObject(field) && field.in !== undefined && field.in !== 'query'))
    return { setting: 'filters', message: 'are parameters of the query: leave out in' }
  const compared = filters.find((field) => isJsonObject(field) && !FILTER_TYPES.has(String(field.type)))
  if (isJsonObject(compared))
    return {
      setting: 'filters',
      message: `has ${String(compared.name)} of the type ${String(compared.type)}: a filter is one of ${[...FILTER_TYPES].join(', ')}`,
    }
  if (page_size > max_page_size)
    return { setting: 'page_size', message: `must be at most max_page_size, which is ${max_page_size}` }
  if (orders.length > MOST_ORDERS)
    return { setting: 'orders', message: `must be at most ${MOST_ORDERS}: each gets an index` }
  const descending = orders.find((name) => name.startsWith('-'))
  if (descending !== undefined)
    return {
      setting: 'orders',
      message: `has ${JSON.stringify(descending)}: name the field alone, clients choose the direction`,
    }
  if (expand.length > MOST_EXPAND)
    return { setting: 'expand', message: `must be at most ${MOST_EXPAND}: a storage has no more references` }
  const unnamed = expand.find((name) => fieldNameProblem(name) !== undefined || name.includes(','))
  if (unnamed !== undefined)
    return { setting: 'expand', message: `has ${JSON.stringify(unnamed)}, which is no name of a field` }
  return undefined
}

/** A filter that is named `expand` stays one where the resource follows no references. */
function isTaken(name: string, expand: readonly string[]): boolean {
  return TAKEN.has(name) || (name === 'expand' && expand.length > 0)
}

/** Those that it serves: all of them where it names none. */
export function servedOperations(operations: readonly string[]): ReadonlySet<ResourceOperation> {
  const named = resourceOperations.filter((one) => operations.includes(one))
  return new Set(named.length === 0 ? resourceOperations : named)
}

/** The text that a pin of the resource holds; undefined for a wire or an expression. */
export function literalOf(resource: Drawn, pin: string): string | undefined {
  const value = resource.in_pins.find(({ id }) => id === pin)?.value
  return typeof value === 'string' ? value.trim() : undefined
}

/** Whether its settings fit. The server also looks at what the address and the storage are called. */
export function canExpand(resource: Drawn): boolean {
  const isPlaced = Boolean(literalOf(resource, 'uri')) && Boolean(literalOf(resource, 'storage'))
  return isPlaced && resourceProblem(resourceSettingsOf(resource.fields)) === undefined
}
