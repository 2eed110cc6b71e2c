import { fieldChangeNames } from '../../../expressions/language/declared/field-changes.ts'
import {
  type Argument,
  type Call,
  type Entry,
  type Expression,
  partsOf,
  type Spread,
} from '../../../expressions/language/expression.ts'

/**
 * Calls of `increment` and its like where they mean nothing: they stand only as the value of a field in a pin `set`, or as
 * one of its choices.
 */
export function misplacedChanges(root: Expression, isSet: boolean): readonly Call[] {
  const placed = new Set<Call>()
  if (isSet) for (const value of fieldValues(root)) notePlaced(value, placed)
  const misplaced: Call[] = []
  const queue: (Argument | Entry | Spread)[] = [root]
  for (let part = queue.pop(); part; part = queue.pop()) {
    if (part.kind === 'call' && fieldChangeNames.has(part.name) && !placed.has(part)) misplaced.push(part)
    queue.push(...partsOf(part))
  }
  return misplaced
}

function fieldValues(root: Expression): readonly Expression[] {
  if (root.kind === 'let') return fieldValues(root.body)
  if (root.kind === 'choice') return [...fieldValues(root.then), ...fieldValues(root.otherwise)]
  if (root.kind !== 'object') return []
  return root.entries.flatMap((entry) => {
    if (entry.kind === 'entry') return [entry.value]
    // `...(body.qty > 0 ? { stock: increment(body.qty) } : {})`
    return fieldValues(entry.of)
  })
}

function notePlaced(value: Expression, placed: Set<Call>): void {
  if (value.kind === 'call') placed.add(value)
  else if (value.kind === 'choice') {
    notePlaced(value.then, placed)
    notePlaced(value.otherwise, placed)
  }
}
