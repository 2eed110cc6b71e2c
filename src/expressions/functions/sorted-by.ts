import type { JsonValue } from '../../shared/json.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import type { Arrow } from './body-of.ts'

/** Work of one comparison, and of one character that two texts have in common at their beginnings. */
const COMPARISON = 0.5
const CHARACTER = 0.008

/** Stable in both directions. Nothing comes last in both. Keys of different types have no order. */
export function sortedBy(
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
