/** Which fields overlap with some of many others, without a look at each: a body of a megabyte has 70,000. */
import { overlap } from './field-path.ts'

/** Fewer are all looked at as quickly. */
const FEW = 8

export interface FieldOverlaps {
  /** Whether one of them is this field, in it or around it. */
  overlaps(name: string): boolean
  /** Whether one of them is in it. */
  hasInside(name: string): boolean
}

export function fieldOverlaps(fields: readonly string[]): FieldOverlaps {
  if (fields.length <= FEW)
    return {
      overlaps: (name) => fields.some((field) => overlap(field, name)),
      hasInside: (name) => fields.some((field) => field.startsWith(`${name}.`)),
    }
  const all = new Set(fields)
  const around = new Set(fields.flatMap((field) => [...fieldsAround(field)]))
  return {
    overlaps: (name) =>
      all.has(name) || around.has(name) || [...fieldsAround(name)].some((one) => all.has(one)),
    hasInside: (name) => around.has(name),
  }
}

/** `a` and `a.b` of `a.b.c`. */
function* fieldsAround(field: string): Generator<string> {
  for (let dot = field.indexOf('.'); dot !== -1; dot = field.indexOf('.', dot + 1)) yield field.slice(0, dot)
}
