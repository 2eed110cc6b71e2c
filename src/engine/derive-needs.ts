import type { InPin } from '../blocks/pin.ts'
import type { PinType } from '../shared/pin-type.ts'
import type { Query, SortKey } from '../shared/query.ts'
import type { Index, Needs } from '../storage/storage.ts'
import type { Graph, Node } from './blueprint-graph.ts'
import type { Facts } from './fold-constants.ts'
import { sampler } from './sample-values.ts'

/** Enough for the searches of a page; a storage with more indexes than this writes slowly for little. */
const MOST = 8

/**
 * Which storages a blueprint uses, and which indexes its searches will want. No block is known by name: every block that
 * takes a storage and a query or sorts counts, and what its query will look like is found by evaluating the blocks before
 * it with samples in place of what only a run can tell. Fields are nearly always constants, values nearly never.
 */
export function deriveNeeds(graph: Graph, facts: Facts): ReadonlyMap<string, Needs> {
  const needs = new Map<string, { indexes: Index[]; text: boolean }>()
  const sample = sampler(facts)
  for (const node of graph.nodes) {
    for (const [id, pin] of node.in) {
      if (pin.type !== 'storage') continue
      const name = sample(node, id, pin)
      if (typeof name !== 'string') continue
      const need = needs.get(name) ?? { indexes: [], text: false }
      needs.set(name, need)
      const queries = pinsOf(node, 'query').flatMap(([queryId, queryPin]) =>
        list<Query>(sample(node, queryId, queryPin)),
      )
      const sorts = pinsOf(node, 'sort').flatMap(([sortId, sortPin]) =>
        list<SortKey>(sample(node, sortId, sortPin)),
      )
      addNeeds(need, queries, sorts)
    }
  }
  // A storage that is chosen and not yet read or written is made all the same.
  for (const node of graph.nodes) {
    for (const [pin, out] of node.out) {
      const name = out.type === 'storage' ? facts.constants.get(node)?.[pin] : undefined
      if (typeof name === 'string' && !needs.has(name)) needs.set(name, { indexes: [], text: false })
    }
  }
  return needs
}

function pinsOf(node: Node, type: PinType): [string, InPin][] {
  return [...node.in].filter(([, pin]) => pin.type === type)
}

function list<T>(value: unknown): T[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.filter((item): item is T => typeof item === 'object' && item !== null)
}

/** One index per field that must be equal, followed by the field that sorts; else one for what sorts or ranges. */
function addNeeds(
  need: { indexes: Index[]; text: boolean },
  queries: readonly Query[],
  sorts: readonly SortKey[],
): void {
  const seen = { equal: new Set<string>(), range: new Set<string>(), text: false }
  for (const query of queries) look(query, seen)
  need.text ||= seen.text
  const [sort] = sorts
  const order = sort ? [sort.field] : [...seen.range].slice(0, 1)
  for (const field of seen.equal) add(need.indexes, [field, ...order.filter((other) => other !== field)])
  if (seen.equal.size > 0) return
  for (const field of sort ? [sort.field] : seen.range) add(need.indexes, [field])
}

function add(indexes: Index[], fields: readonly string[]): void {
  // Newest first is what every storage has an index for.
  if (fields.every((field) => field.startsWith('_meta.'))) return
  const key = fields.join(' ')
  if (indexes.length < MOST && !indexes.some((index) => index.fields.join(' ') === key))
    indexes.push({ fields })
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
      seen.equal.add(query.field)
      return
    case 'range':
      seen.range.add(query.field)
      return
    case 'simple_query_string':
      seen.text = true
      return
    case 'or': {
      // A date is stored as text or as a number, so a range of dates is two ranges on one field.
      const ranged = new Set(query.queries.map((inner) => (inner.kind === 'range' ? inner.field : '')))
      const [field] = ranged
      if (ranged.size === 1 && field) seen.range.add(field)
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
