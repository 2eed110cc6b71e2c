/** Which index would help a search, as far as the search and the indexes that are there tell. */
import type { Query, Search } from '../../shared/query.ts'
import { type Index, readIndexed, sortedField } from '../document-index.ts'
import { isRelevanceOrder } from './rank-text.ts'
import { sortKeys } from './search-cursor.ts'

/** What is known of the storage that was searched. */
export interface SearchedStorage {
  readonly indexes: readonly Index[]
  /** Whether it has an index of free text. */
  readonly text: boolean
  /** Whether documents hold lists or objects at the field, as far as that is known: then no index is used. */
  holdsLists(field: string): boolean
}

export interface IndexAdvice {
  /** The index that would help. undefined: no index over fields does. */
  readonly index: RequestedIndex | undefined
  /** Whether an index of free text would. */
  readonly text: boolean
  /** In a sentence or two. */
  readonly why: string
  /** What the indexes that are there leave to be read, at worst, as a query: counting it gives the rows. */
  readonly reads: Query
  /** Whether removed documents are read too. */
  readonly readsRemoved: boolean
}

export interface RequestedIndex {
  readonly fields: readonly string[]
  /** How many of them, from the first on, must be equal to something: those may stand in any order. */
  readonly equal: number
}

/** What one index may have; both engines refuse more. */
const MAX_FIELDS = 8
/** Documents that a search passes over before its page, from which on that is what takes its time. */
const FAR = 1_000

/** undefined when the indexes that are there serve the search as well as any could. */
export function adviseIndex(
  search: Search,
  searched: SearchedStorage,
  counts: boolean,
): IndexAdvice | undefined {
  const parts = conjuncts(search.query)
  const equal = parts.filter(isEquality)
  const served = servedBy(equal, searched)
  const removed = search.includeRemoved
  const reads: Query = removed ? { kind: 'all' } : { kind: 'and', queries: served }
  const readsRemoved = removed || served.length === 0
  const none = (why: string): IndexAdvice => ({ index: undefined, text: false, why, reads, readsRemoved })

  if (hasText(search.query)) {
    if (!searched.text)
      return { ...none('Free text is looked for in every document: there is no index of it.'), text: true }
    if (!counts && isRelevanceOrder(search))
      return none(
        'Each document that has the words is weighed to find the best. A sort, or rarer words, would make it less.',
      )
  }
  if (removed) return none('It looks at removed documents too, and indexes hold only those that are present.')

  const fields = helpfulFields(search, parts, counts)
  const lists = fields.filter((field) => searched.holdsLists(readIndexed(field).field))
  const [list] = lists
  if (list !== undefined && lists.length === fields.length)
    return none(`Documents hold lists or objects in ${list}, and no index is over those.`)
  const usable = fields.filter((field) => !lists.includes(field)).slice(0, MAX_FIELDS)
  if (usable.length === 0) return unhelped(search, none)
  const index = {
    fields: usable,
    equal: usable.filter((field) => equal.some((part) => part.field === field)).length,
  }
  if (isThere(index, searched.indexes)) return search.offset >= FAR ? none(farAway) : undefined
  const why = served.length === 0 ? 'No index narrows it.' : 'The index that is there narrows it in part.'
  return { index, text: false, why, reads, readsRemoved }
}

const farAway =
  'It passes over many documents before its page. Continue behind the last document of a page (after) instead.'

function unhelped(search: Search, none: (why: string) => IndexAdvice): IndexAdvice | undefined {
  if (search.query.kind !== 'all' && shapeMatters(search.query))
    return none(
      'Alternatives (or), exclusions (not) and whether a field exists cannot be narrowed by an index. A filter by equality beside them could.',
    )
  return search.offset >= FAR ? none(farAway) : undefined
}

function shapeMatters(query: Query): boolean {
  return conjuncts(query).some((part) => part.kind !== 'all' && part.kind !== 'simple_query_string')
}

/** What must be equal, then what sorts (if in one direction), else what is between bounds. */
function helpfulFields(search: Search, parts: readonly Query[], counts: boolean): string[] {
  const equal = new Set(parts.filter(isEquality).map(({ field }) => field))
  const sorts = counts || isRelevanceOrder(search) ? [] : sortKeys(search)
  const oneWay = new Set(sorts.map(({ order }) => order)).size <= 1
  const order = oneWay ? sorts.map(sortedField) : []
  const ranges = parts.flatMap((part) => (part.kind === 'range' ? [part.field] : []))
  const further = order.length > 0 ? order : ranges.slice(0, 1)
  const fields = [...equal, ...further.filter((field) => !equal.has(field))]
  // The storage's own index serves newest first and ranges of it.
  return fields.every((field) => ['_meta.created', '_meta.cms', '_meta.guid'].includes(field)) ? [] : fields
}

type Equality = Extract<Query, { kind: 'term' | 'terms' }>

function isEquality(query: Query): query is Equality {
  return query.kind === 'term' || query.kind === 'terms'
}

/** Those equalities by which an index that is there narrows the search: the most that one index does. */
function servedBy(equal: readonly Equality[], searched: SearchedStorage): Equality[] {
  const usable = equal.filter(({ field }) => !searched.holdsLists(field))
  const fixed = new Set(usable.map(({ field }) => field))
  const prefixes = searched.indexes.map(({ fields }) => {
    const end = fields.findIndex((field) => !fixed.has(field))
    const prefix = end < 0 ? fields : fields.slice(0, end)
    return usable.filter(({ field }) => prefix.includes(field))
  })
  return prefixes.reduce((most, prefix) => (prefix.length > most.length ? prefix : most), [])
}

/** Whether one of these indexes does what the wanted one would. */
export function isThere(
  { fields, equal }: RequestedIndex,
  indexes: readonly Pick<Index, 'fields'>[],
): boolean {
  const first = fields.slice(0, equal).toSorted().join(' ')
  return indexes.some(
    (index) =>
      index.fields.slice(0, equal).toSorted().join(' ') === first &&
      fields.slice(equal).every((field, at) => index.fields[equal + at] === field),
  )
}

/** What must all hold. */
export function conjuncts(query: Query): Query[] {
  if (query.kind === 'and') return query.queries.flatMap(conjuncts)
  return query.kind === 'filter' ? conjuncts(query.query) : [query]
}

function hasText(query: Query): boolean {
  if (query.kind === 'simple_query_string') return true
  if (query.kind === 'and' || query.kind === 'or') return query.queries.some(hasText)
  return query.kind === 'filter' || query.kind === 'not' ? hasText(query.query) : false
}
