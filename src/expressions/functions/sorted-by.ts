import type { JsonValue } from '../../shared/json.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { Arrow } from './body-of.ts'

/** Stable in both directions. Nothing comes last in both. Keys of different types have no order. */
export function sortedBy(list: readonly JsonValue[], by: Arrow, isDescending: boolean): JsonValue[] {
  const keyed = list.map((item, i) => ({ item, key: by(item, i) ?? null }))
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
