import { isLargerThan, type JsonValue } from '../../shared/json.ts'
import { exactSum } from '../../shared/numbers/decimal.ts'
import type { listFunctions } from '../language/declared/lists.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { longText, textWork } from '../language/same-value.ts'
import type { Arrow, BodiesOf } from './body-of.ts'
import { spendOn, spendOnNew, spendOnSum, spendOnText } from './bounded.ts'
import { objectOf } from './objects.ts'

/** Work of one comparison, and of one character that two texts have in common at their beginnings. */
const COMPARISON = 0.5
const CHARACTER = 0.008

/** Stable in both directions. Nothing comes last in both. Keys of different types have no order. */
function sortedBy(
  context: FunctionContext,
  list: readonly JsonValue[],
  by: Arrow,
  isDescending: boolean,
): JsonValue[] {
  const keyed = list.map((item, i) => ({ item, key: by(item, i) ?? null }))
  const characters = keyed.reduce((sum, { key }) => sum + (typeof key === 'string' ? key.length : 0), 0)
  const comparisons = Math.ceil(Math.log2(list.length + 1))
  context.spend(0, comparisons * (list.length * COMPARISON + characters * CHARACTER))
  const types = new Set(keyed.filter(({ key }) => key !== null).map(({ key }) => typeof key))
  if (types.has('object')) throw new ArgumentError('by', 'must give a text, a number or a condition')
  if (types.size > 1) throw new ArgumentError('by', `gives ${[...types].map(named).join(' and ')}`)
  const direction = isDescending ? -1 : 1
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === b) return 0
    if (a === null || b === null) return a === null ? 1 : -1
    return a < b ? -direction : direction
  })
  return keyed.map(({ item }) => item)
}

function named(type: string): string {
  return { string: 'texts', boolean: 'conditions' }[type] ?? 'numbers'
}

/** Bodies of what is a function and a method: their arguments are the same. */
export const eachBodies = {
  filter: (context: FunctionContext, list: readonly JsonValue[], test: Arrow) => {
    spendOn(context, 'list', list)
    return list.filter((item, i) => test(item, i))
  },
  map: (context: FunctionContext, list: readonly JsonValue[], value: Arrow) => {
    spendOn(context, 'list', list)
    return list.map((item, i) => value(item, i) ?? null)
  },
  find: (context: FunctionContext, list: readonly JsonValue[], test: Arrow) => {
    spendOn(context, 'list', list)
    return list.find((item, i) => test(item, i))
  },
  some: (context: FunctionContext, list: readonly JsonValue[], test: Arrow) => {
    spendOn(context, 'list', list)
    return list.some((item, i) => test(item, i))
  },
  every: (context: FunctionContext, list: readonly JsonValue[], test: Arrow) => {
    spendOn(context, 'list', list)
    return list.every((item, i) => test(item, i))
  },
  at: (_: FunctionContext, list: readonly JsonValue[], index: number) => list.at(index),
}

export const listBodies: BodiesOf<typeof listFunctions> = {
  ...eachBodies,
  first: (_, list) => list[0],
  last: (_, list) => list.at(-1),
  reduce: (context, list, next, start) => {
    spendOn(context, 'list', list)
    return list.reduce<JsonValue | undefined>((reduced, item, i) => next(reduced, item, i), start)
  },
  sortBy: (context, list, by, direction = 'ascending') => {
    if (direction !== 'ascending' && direction !== 'descending')
      throw new ArgumentError('direction', "must be 'ascending' or 'descending'")
    spendOn(context, 'list', list)
    return sortedBy(context, list, by, direction === 'descending')
  },
  unique: (context, list) => {
    spendOn(context, 'list', list)
    return distinct(context, list)
  },
  groupBy: (context, list, by) => objectOf('by', grouped(context, list, by)),
  countBy: (context, list, by) => {
    const groups = [...grouped(context, list, by)]
    return objectOf(
      'by',
      groups.map(([key, items]) => [key, items.length]),
    )
  },
  sumBy: (context, list, value) => {
    spendOn(context, 'list', list)
    return sumOf(context, list, value)
  },
  flatten: (context, list) => {
    spendOn(context, 'list', list)
    return flattened(context, list)
  },
  range: (context, from, to) => {
    const length = Math.max(0, to - from + 1)
    spendOnNew(context, 'to', length)
    return Array.from({ length }, (_, i) => from + i)
  },
  reverse: (context, list) => {
    spendOn(context, 'list', list)
    return list.toReversed()
  },
  concat: (context, ...lists) => joinedLists(context, lists),
  chunk: (context, list, size) => {
    if (size < 1) throw new ArgumentError('size', 'must be at least 1')
    spendOn(context, 'list', list)
    const length = Math.ceil(list.length / size)
    return Array.from({ length }, (_, i) => list.slice(i * size, (i + 1) * size))
  },
}

/** Fields in one order. A field that is null is as one that is missing. */
function inOrder(context: FunctionContext) {
  return (_key: string, value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value)
    if (entries.length > MANY_FIELDS) context.spend(0, entries.length * WORK_OF_SORTED_FIELD)
    const fields = entries.filter(([, field]) => field !== null && field !== undefined)
    return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Below, the text that is made pays for them. */
const MANY_FIELDS = 1_000
/** 80,000 took 100 ms. */
const WORK_OF_SORTED_FIELD = 12

/** Each object is written as text: this much takes some 50 ms. */
const MOST_VALUES = 100_000
const MOST_CHARACTERS = 4_000_000

const WORK_OF_DISTINCT = 3

function distinct(context: FunctionContext, list: readonly JsonValue[]): JsonValue[] {
  if (isLargerThan(list, MOST_VALUES, MOST_CHARACTERS))
    throw new ArgumentError('list', 'holds values that are too large to compare')
  const plain = new Set<JsonValue>()
  const written = new Set<string>()
  const sorted = inOrder(context)
  context.spend(0, list.length * WORK_OF_DISTINCT)
  return list.filter((item) => {
    const isPlain = typeof item !== 'object' || item === null
    if (isPlain) return plain.size !== plain.add(item).size
    const text = JSON.stringify(item, sorted)
    spendOnText(context, text, 400)
    return written.size !== written.add(text).size
  })
}

/** A group of its own for each element takes 1.5 µs, with the object that is made in the end. */
const WORK_OF_GROUPED = 12

function grouped(
  context: FunctionContext,
  list: readonly JsonValue[],
  by: Arrow,
): ReadonlyMap<string, readonly JsonValue[]> {
  spendOn(context, 'list', list)
  context.spend(0, list.length * WORK_OF_GROUPED)
  return Map.groupBy(list, (item, i) => {
    const key = groupKey(by(item, i))
    if (key.length >= longText) context.spend(0, textWork(key.length))
    return key
  })
}

function groupKey(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') throw new ArgumentError('by', 'must give a text, a number or a condition')
  return String(value)
}

function sumOf(context: FunctionContext, list: readonly JsonValue[], value: Arrow): number {
  const numbers = list.map((item, i) => {
    const added = value(item, i) ?? 0
    if (typeof added !== 'number') throw new ArgumentError('value', 'must give a number')
    return added
  })
  spendOnSum(context, numbers)
  const sum = exactSum(numbers)
  if (!Number.isFinite(sum)) throw new ArgumentError('value', 'has a sum that is too large')
  return sum
}

/** One level deep. */
export function flattened(context: FunctionContext, list: readonly JsonValue[]): JsonValue[] {
  const length = list.reduce<number>((sum, item) => sum + (Array.isArray(item) ? item.length : 1), 0)
  spendOnNew(context, 'list', length)
  return list.flat()
}

export function joinedLists(context: FunctionContext, lists: readonly (readonly JsonValue[])[]): JsonValue[] {
  spendOnNew(
    context,
    'lists',
    lists.reduce((sum, list) => sum + list.length, 0),
  )
  return lists.flat()
}
