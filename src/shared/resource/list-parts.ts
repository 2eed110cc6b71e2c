/** The list of a resource: its filters, orders, pages and counts. */
import { isJsonObject, type JsonValue } from '../json.ts'
import {
  AS_USER,
  expandHelp,
  expandParts,
  type Parts,
  type ResourcePart,
  type ResourcePlan,
} from './resource-plan.ts'

export function listParts(plan: ResourcePlan): Parts {
  const { uri, storage, filters, orders, readScopes, nameOf } = plan
  const where = whereOf(filters)
  const searches = searchesOf(orders)
  const documents = searches.map(({ part }) => `${nameOf(part)}.documents`).join(' ?? ')
  const picked = searches.map(({ part }) => `${nameOf(part)}.picked`).join(' ?? ')
  const cursor = searches.map(({ part }) => `${nameOf(part)}.cursor`).join(' ?? ')
  const order = orders.flatMap((name) => [name, `-${name}`])
  const condition = where === undefined ? {} : { where }
  return {
    list: {
      type: 'on_startup_register_uri_get',
      in: { uri },
      fields: {
        summary: `List ${storage}`,
        description: `Newest first. A filter that comes several times finds each of its values. \`limit\` documents a page; the header \`x-next-cursor\` is \`after\` of the next page. \`fields=a,b\` sends these fields and \`_meta\`; \`count=true\` sends \`{ count }\`.${expandHelp(plan)}`,
        schema: listSchema(plan, order),
      },
      scopes: readScopes,
      at: [0, 0],
    },
    counting: { type: 'branch', in: { flow: '@list.flow', condition: '=params.count == true' }, at: [1, 0] },
    count: {
      type: 'function_aggregate',
      in: { flow: '@counting.true', storage, ...condition },
      fields: AS_USER,
      at: [2, 0],
    },
    counted: {
      type: 'httpconnection_set_json',
      in: { flow: '@count.flow', value: `={ count: ${nameOf('count')}.rows[0].count }` },
      at: [4, 0],
    },
    ...(orders.length > 0 && {
      ordered: {
        type: 'switch',
        in: { flow: '@counting.false', value: '@list.order' },
        fields: { cases: order },
        at: [2, 1],
      },
    }),
    ...searchParts(plan, searches, orders.length > 0 ? '@ordered.default' : '@counting.false'),
    listed: {
      type: 'httpconnection_set_json',
      in: {
        flow: searches.map(({ part }) => `@${part}.flow`),
        value: `=params.fields == null ? ${documents} : ${picked}`,
        headers: `={ "x-next-cursor": ${cursor} }`,
      },
      at: [4, 1],
    },
  }
}

/** A search for each order; `first`: where the one without an order comes from. */
function searchParts(plan: ResourcePlan, searches: readonly OrderedSearch[], first: string): Parts {
  const { storage, filters } = plan
  const where = whereOf(filters)
  const condition = where === undefined ? {} : { where }
  return Object.fromEntries(
    searches.map(({ part, sort, way }, row) => [
      part,
      {
        type: 'function_search',
        in: {
          flow: way === undefined ? first : `@ordered.${way}`,
          storage,
          ...condition,
          ...(sort !== undefined && { sort }),
          limit: '@list.limit',
          offset: '@list.offset',
          after: '@list.after',
          ...expandParts(plan).pins,
          only: '=params.fields?.split(",")',
        },
        fields: AS_USER,
        at: [3, 1 + row],
      } satisfies ResourcePart,
    ]),
  )
}

/** What a request of the list may say. */
function listSchema(plan: ResourcePlan, order: readonly string[]): JsonValue[] {
  const { filters, pageSize, maxPageSize } = plan
  return [
    ...filters.flatMap((field) => (isJsonObject(field) ? [{ ...field, in: 'query', several: true }] : [])),
    { name: 'limit', type: 'whole number', in: 'query', min: 0, max: maxPageSize, default: pageSize },
    { name: 'offset', type: 'whole number', in: 'query', min: 0, max: 10_000 },
    { name: 'after', type: 'text', in: 'query' },
    ...(order.length > 0 ? [{ name: 'order', type: 'text', in: 'query', choices: order }] : []),
    { name: 'count', type: 'condition', in: 'query' },
    { name: 'fields', type: 'text', in: 'query' },
    ...expandParts(plan).schema,
  ]
}

interface OrderedSearch {
  readonly part: string
  readonly sort?: string
  /** Of the block that tells the orders apart. */
  readonly way?: string
}

function searchesOf(orders: readonly string[]): readonly OrderedSearch[] {
  return [
    { part: 'search' },
    ...orders.flatMap((name, at) => [
      { part: `search_${at + 1}`, sort: `${name} asc`, way: name },
      { part: `search_${at + 1}_desc`, sort: `${name} desc`, way: `-${name}` },
    ]),
  ]
}

function whereOf(filters: readonly JsonValue[]): string | undefined {
  const names = filters.flatMap((field) => (isJsonObject(field) ? [String(field.name)] : []))
  if (names.length === 0) return undefined
  return `=${names.map((name) => `contains(maybe(params.${name}), doc.${name})`).join(' && ')}`
}
