import {
  type Argument,
  type Entry,
  type NameRead,
  type Place,
  partsOf,
  type Spread,
} from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'

/** A name that an expression reads, with the first field that it reads of it, if that is written out. */
export interface Read {
  readonly name: NameRead
  readonly field: string | undefined
}

/**
 * The text in which reads are replaced; every other character stays. `changed` gives what stands in place of the name and the
 * field, or undefined for what stays. A text that is no expression comes back as it is.
 */
export function changedReads(text: string, changed: (read: Read) => string | undefined): string {
  const { expression } = parseExpression(text)
  if (!expression) return text
  const changes: { readonly at: Place; readonly text: string }[] = []
  const visit = (part: Argument | Entry | Spread) => {
    const of = part.kind === 'member' || part.kind === 'index' ? part.of : undefined
    const field = fieldOf(part)
    if (of?.kind === 'name' && field !== undefined) {
      const now = changed({ name: of, field })
      if (now !== undefined) changes.push({ at: part, text: now })
    } else if (part.kind === 'name') {
      const now = changed({ name: part, field: undefined })
      if (now !== undefined) changes.push({ at: part, text: now })
    } else if (part.kind === 'entry' && part.shorthand && part.value.kind === 'name') {
      const now = changed({ name: part.value, field: undefined })
      if (now !== undefined) changes.push({ at: part.value, text: `${part.key}: ${now}` })
    } else for (const one of partsOf(part)) visit(one)
  }
  visit(expression.root)
  let result = text
  for (const { at, text: now } of changes.toSorted((a, b) => b.at.start - a.at.start))
    result = result.slice(0, at.start) + now + result.slice(at.end)
  return result
}

function fieldOf(part: Argument | Entry | Spread): string | undefined {
  if (part.kind === 'member') return part.key
  if (part.kind !== 'index' || part.key.kind !== 'literal') return undefined
  return typeof part.key.value === 'string' ? part.key.value : undefined
}
