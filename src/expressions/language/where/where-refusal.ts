import type { Argument } from '../expression.ts'
import { documentField, isDocument } from './document-field.ts'

/** As functions of a where, the methods that builders know. */
const instead: Readonly<Record<string, string>> = {
  includes: 'Write contains(doc.field, part).',
  startsWith: 'Write startsWith(doc.field, part).',
}

const stored = 'Store the result in a field of its own, such as a computed field, and compare that.'

/** Why a part that asks nothing of a document cannot be meant: a filter in the form of an object would find all documents. */
export function alwaysTrue(part: Argument): string | undefined {
  switch (part.kind) {
    case 'object': {
      const entry = part.entries.find((one) => one.kind === 'entry')
      const name = entry?.kind === 'entry' ? entry.key : 'status'
      return `An object is always true, so all documents would match. Write conditions, such as doc.${name} == "open".`
    }
    case 'list':
      return 'A list is always true, so all documents would match. Write conditions, such as doc.status == "open".'
    case 'template':
      return 'A value alone asks nothing of a document. Write a condition, such as doc.status == "open".'
    case 'literal':
      return typeof part.value === 'string' || typeof part.value === 'number'
        ? 'A value alone asks nothing of a document. Write a condition, such as doc.status == "open".'
        : undefined
    case 'choice':
      return alwaysTrue(part.then) ?? alwaysTrue(part.otherwise)
    default:
      return undefined
  }
}

/** Why a search cannot ask this of a document, and what to write. */
export function refusalOf(part: Argument): string {
  if (part.kind !== 'arrow' && isDocument(part))
    return 'Name a field of the document and compare it, such as doc.status == "open".'
  if (part.kind !== 'arrow' && documentField(part)?.path !== undefined)
    return 'Compare the field with a value, such as doc.done == true.'
  switch (part.kind) {
    case 'binary':
    case 'unary':
    case 'template':
      return `A search cannot calculate with a field. ${stored}`
    case 'call':
      return `A search cannot call ${part.name} with a field; it knows contains, startsWith, isEmpty and search, and lower in the first two. ${stored}`
    case 'method':
      return `A search cannot call ${part.name} on a field. ${instead[part.name] ?? stored}`
    case 'let':
      return 'A search cannot name parts with let. Calculate them in another pin or a block Value before.'
    case 'choice':
      return 'A search cannot choose with ? and :. Write && and || instead.'
    case 'logical':
      return 'A search cannot choose with ??. Compare the field with null instead.'
    case 'index':
      return 'A search cannot look into a list at a position. contains(doc.field, x) finds an element.'
    default:
      return `A search can compare a field with a value only. ${stored}`
  }
}
