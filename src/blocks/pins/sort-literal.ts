import { parseFieldPath } from '../../shared/field-path.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { SortKey } from '../../shared/query.ts'
import type { InPin } from '../pin.ts'

/** `amount desc` as a sort key; undefined for what names no field. Documents without the field come last. */
export function sortKeyOf(written: unknown): SortKey | undefined {
  if (typeof written !== 'string') return undefined
  const words = written.trim().split(/ +/)
  const last = words.at(-1)
  const order = words.length > 1 && (last === 'desc' || last === 'asc') ? last : undefined
  const field = (order === undefined ? words : words.slice(0, -1)).join(' ')
  try {
    parseFieldPath(field)
  } catch {
    return undefined
  }
  return { field, order: order ?? 'asc', missing: 'last' }
}

/** The values of a literal of a pin that takes several: the items of a list, or of the text of a sort pin, `country, name desc`. */
export function literalItems(pin: InPin, literal: JsonValue): readonly JsonValue[] {
  if (Array.isArray(literal)) return literal
  return pin.type === 'sort' && typeof literal === 'string' ? literal.split(',') : [literal]
}
