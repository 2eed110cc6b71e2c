import type { BlockDefinition } from '../../blocks/block.ts'
import type { InPin } from '../../blocks/pin.ts'
import type { Steps } from '../../shared/cooperative.ts'
import { type FieldRule, type FieldsOf, sortCollation } from '../../shared/field-rule.ts'
import { foldedQuery, foldingsOf } from '../../shared/folded-query.ts'
import type { PinType } from '../../shared/pin-type.ts'
import type { Query, SortKey } from '../../shared/query.ts'
import { type Index, type Needs, readIndexed, sortedField } from '../../storage/document-index.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'
import type { Graph, Node } from './blueprint-graph.ts'
import type { Facts } from './constants/fold-constants.ts'
import { sampler, UNKNOWN, unknownValue } from './constants/sample-values.ts'

/** Enough for the searches of a page; a storage with more indexes than this writes slowly for little. */
const MOST = 8
/** Both engines refuse more in one index. */
const MAX_FIELDS = 8

/**
 * Which storages a blueprint uses, and which indexes its searches will want. No block is known by name: every block that
 * takes a storage and a query or sorts counts, and what its query will look like is found by evaluating the blocks before
 * it twice: as if every request sent everything, and as if it sent nothing. The first tells which fields a search may
 * filter by, the second what is left when optional filters are not there, and the sort that a request does not choose.
 * Fields are nearly always constants, values nearly never; a field that only a run can tell gets no index.
 */
export function* neededIndexes(
  graph: Graph,
  facts: Facts,
  fieldsOf?: FieldsOf,
): Steps<readonly RequestedIndexes[]> {
  const requested: RequestedIndexes[] = []
  const sent = sampler(facts, unknownValue, unknownValue)
  const silent = sampler(
    facts,
    () => undefined,
    () => undefined,
  )
  for (const node of graph.nodes) {
    yield
    const needs = new Map<string, Need>()
    for (const [id, pin] of node.in) {
      if (pin.type !== 'storage') continue
      const name = sent(node, id, pin)
      if (typeof name !== 'string' || isUnknown(name)) continue
      const need = needs.get(name) ?? { indexes: [], text: false }
      needs.set(name, need)
      const { own, others } = referringQueries(sampled<Query>(sent, node, 'query'), name, fieldsOf)
      const queries = asFieldsSay(own, name, fieldsOf)
      for (const other of others) {
        const needOf = needs.get(other.storage) ?? { indexes: [], text: false }
        needs.set(other.storage, needOf)
        addNeeds(needOf, asFieldsSay([other.query], other.storage, fieldsOf), [], true)
      }
      const bare = sampled<Query>(silent, node, 'query').every(({ kind }) => kind === 'all')
      const rules = fieldsOf?.(name) ?? []
      const sorts = [sent, silent].map((sample) => collated(sampled<SortKey>(sample, node, 'sort'), rules))
      addNeeds(need, queries, sorts, bare)
      const more = visitorsSearches(node, sent)
      need.text ||= more.text
      const chosen = collated(more.sorts, rules)
      for (const sort of chosen) addNeeds(need, queries, [[sort]], bare)
      const filters = asFieldsSay(more.filters, name, fieldsOf)
      for (const filter of filters) addNeeds(need, [...queries, filter], [], bare)
      addRead(need, queries, more.read ?? [], bare)
      // Both together, as far as there is room: a page of what is filtered is then read in order.
      for (const filter of filters.filter(({ kind }) => kind === 'term'))
        for (const sort of chosen) addNeeds(need, [...queries, filter], [[sort]], bare)
    }
    // A storage that is chosen and not yet read or written is made all the same.
    for (const [pin, out] of node.out) {
      const name = out.type === 'storage' ? facts.constants.get(node)?.[pin] : undefined
      if (typeof name === 'string' && !needs.has(name)) needs.set(name, { indexes: [], text: false })
    }
    for (const [storage, need] of needs) requested.push({ block: node.block.guid, storage, ...need })
  }
  return requested
}

/** What one block needs of a storage. */
export interface RequestedIndexes extends Needs {
  readonly block: string
  readonly storage: string
}

/** What a blueprint needs of its storages: what its first blocks need first. */
export function needsOf(requested: readonly RequestedIndexes[]): ReadonlyMap<string, Needs> {
  const needs = new Map<string, Need>()
  for (const { storage, indexes, text } of requested) {
    const need = needs.get(storage) ?? { indexes: [], text: false }
    needs.set(storage, need)
    need.text ||= text === true
    for (const { fields } of indexes ?? []) add(need.indexes, fields)
  }
  return needs
}

function asFieldsSay(queries: readonly Query[], storage: string, fieldsOf: FieldsOf | undefined): Query[] {
  const foldings = foldingsOf(fieldsOf?.(storage) ?? [])
  return queries.map((query) => (foldings.size === 0 ? query : foldedQuery(query, foldings)))
}

interface Need {
  readonly indexes: Index[]
  text: boolean
}

type Sampler = ReturnType<typeof sampler>

function sampled<T>(sample: Sampler, node: Node, type: PinType): T[] {
  return pinsOf(node, type).flatMap(([id, pin]) => list<T>(sample(node, id, pin)))
}

/** What visitors may choose to search and sort by, where a block says so. */
function visitorsSearches(node: Node, sample: Sampler): ReturnType<NonNullable<BlockDefinition['searches']>> {
  const inputs = [...node.in].filter(([, pin]) => pin.type !== 'flow' && !pin.perFrame)
  const input = Object.fromEntries(inputs.map(([id, pin]) => [id, sample(node, id, pin)]))
  return node.definition.searches?.(input) ?? { sorts: [], filters: [], text: false }
}

function isUnknown(text: string): boolean {
  return text.includes(UNKNOWN)
}

/** Keys as the searches will have them: `records/fields/sorting-session.ts`. */
function collated(sorts: readonly SortKey[], rules: readonly FieldRule[]): SortKey[] {
  return sorts.map((key) => {
    const collation = sortCollation(rules, key.field)
    return collation === undefined ? key : { ...key, collation }
  })
}

/** The fields that one index can sort by: as far as they are known, and go in the direction of the first. */
function sortedFields(sorts: readonly SortKey[]): string[] {
  const end = sorts.findIndex(({ field, order }) => isUnknown(field) || order !== sorts[0]?.order)
  return sorts.slice(0, end < 0 ? undefined : end).map(sortedField)
}

function pinsOf(node: Node, type: PinType): [string, InPin][] {
  return [...node.in].filter(([, pin]) => pin.type === type)
}

function list<T>(value: unknown): T[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.filter((item): item is T => typeof item === 'object' && item !== null)
}

/**
 * An index over all fields that must be equal, and one for each alone, since filters may be optional; each followed by what
 * sorts, else by what is between bounds. `bare`: the search may also come without any filter.
 */
function addNeeds(
  need: Need,
  queries: readonly Query[],
  sorts: readonly (readonly SortKey[])[],
  bare: boolean,
): void {
  const seen = { equal: new Set<string>(), range: new Set<string>(), text: false }
  for (const query of queries) look(query, seen)
  need.text ||= seen.text
  const known = sorts.map(sortedFields).filter((order) => order.length > 0)
  const [ranged] = seen.range
  const further = known.length > 0 ? known : [ranged === undefined ? [] : [ranged]]
  for (const order of further) {
    const behind = (fields: readonly string[]) => add(need.indexes, [...new Set([...fields, ...order])])
    if (seen.equal.size > 1) behind([...seen.equal])
    for (const field of seen.equal) behind([field])
    if (seen.equal.size === 0 || bare) behind([])
  }
  if (seen.equal.size > 0 || known.length > 0) return
  for (const field of seen.range) add(need.indexes, [field])
}

/**
 * One index over all that an aggregate reads: what must be equal, what is between bounds, then groups and values. SQLite then reads
 * the index and no document. `bare`: and one without what filters need that are optional.
 */
function addRead(need: Need, queries: readonly Query[], read: readonly string[], bare: boolean): void {
  const fields = read.filter((field) => !isUnknown(field))
  if (fields.length === 0) return
  const seen = { equal: new Set<string>(), range: new Set<string>(), text: false }
  for (const query of queries) look(query, seen)
  add(need.indexes, [...new Set([...seen.equal, ...seen.range, ...fields])])
  if (bare && seen.equal.size + seen.range.size > 0) add(need.indexes, [...new Set(fields)])
}

function add(indexes: Index[], requested: readonly string[]): void {
  const fields = fitting(requested)
  // Newest first is what every storage has an index for.
  if (fields.every((field) => field.startsWith('_meta.'))) return
  const key = fields.join(' ')
  if (indexes.length < MOST && !indexes.some((index) => index.fields.join(' ') === key))
    indexes.push({ fields })
}

/** An entry of an index has room for so many: what texts are sorted by is up to twice as long as they are. */
function fitting(fields: readonly string[]): readonly string[] {
  let left = MAX_FIELDS
  const end = fields.findIndex((field) => {
    left -= readIndexed(field).collation === undefined ? 1 : 2
    return left < 0
  })
  return fields.slice(0, end < 0 ? undefined : end)
}

function look(query: Query, seen: { equal: Set<string>; range: Set<string>; text: boolean }): void {
  switch (query.kind) {
    case 'and':
      for (const inner of query.queries) look(inner, seen)
      return
    case 'filter':
      look(query.query, seen)
      return
    case 'term':
    case 'terms':
      if (!isUnknown(query.field)) seen.equal.add(query.field)
      return
    case 'range':
      if (!isUnknown(query.field)) seen.range.add(query.field)
      return
    case 'folded':
      if (query.test !== 'contains' && !isUnknown(query.field))
        seen.range.add(sortedField({ field: query.field, collation: query.folding.collation }))
      return
    case 'simple_query_string':
      seen.text = true
      return
    case 'or': {
      // A date is stored as text or as a number, so a range of dates is two ranges on one field.
      const ranged = new Set(query.queries.map((inner) => (inner.kind === 'range' ? inner.field : '')))
      const [field] = ranged
      if (ranged.size === 1 && field && !isUnknown(field)) seen.range.add(field)
      // An index for one side of an "or" does not help; free text counts wherever it stands.
      seen.text ||= query.queries.some(hasText)
      return
    }
    default:
      return
  }
}

function hasText(query: Query): boolean {
  if (query.kind === 'simple_query_string') return true
  if (query.kind === 'and' || query.kind === 'or') return query.queries.some(hasText)
  return query.kind === 'filter' || query.kind === 'not' ? hasText(query.query) : false
}

type Through = Extract<Query, { kind: 'through' }>

/** What queries ask of their storage, and of the storages that its documents refer to. What a run refuses is left as it is. */
function referringQueries(
  queries: readonly Query[],
  storage: string,
  fieldsOf: FieldsOf | undefined,
): { readonly own: readonly Query[]; readonly others: readonly Through[] } {
  const references = referencesIn(fieldsOf?.(storage) ?? []).of(storage)
  if (references.length === 0) return { own: queries, others: [] }
  const own = queries.map((query) => {
    try {
      return throughReferences(query, references)
    } catch {
      return query
    }
  })
  return { own, others: own.flatMap(throughIn) }
}

function throughIn(query: Query): readonly Through[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(throughIn)
    case 'not':
    case 'filter':
      return throughIn(query.query)
    case 'through':
      return [query]
    default:
      return []
  }
}
