/** A document that is referred to by a unique value, such as the name of a supplier, in place of its guid. */
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldType } from '../../shared/fields/field-type.ts'
import { isGuid } from '../../shared/guid.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Session } from '../database.ts'

/** `problem` finishes the sentence "The value …". */
export type FoundByName = { readonly guid: string } | { readonly problem: string }

const NAMING: ReadonlySet<FieldType> = new Set(['string', 'line', 'email'])

/** The text fields of a storage that are unique by themselves: what its documents can be named by. */
export function namingFields(rules: readonly FieldRule[]): readonly string[] {
  return rules
    .filter(({ name, type, unique }) => unique?.key === name && NAMING.has(type))
    .map(({ name }) => name)
}

/**
 * Looks in one naming field after the other. A guid stands for itself. What is not found, and a storage without such a field,
 * is a problem.
 */
export function referenceByName(
  session: Session,
  storage: string,
  fields: readonly string[],
  text: string,
): MaybePromise<FoundByName> {
  if (isGuid(text)) return { guid: text }
  const [field, ...others] = fields
  if (field === undefined) return { problem: `is no guid, and ${storage} has no unique field to find it by` }
  const seen = recover(() => session.claims.holder(storage, [field], { [field]: text }), unlessHidden)
  return andThen(seen, (holder): MaybePromise<FoundByName> => {
    if (holder?.guid !== undefined) return { guid: holder.guid }
    if (others.length > 0) return referenceByName(session, storage, others, text)
    const of = fields.join(' or ')
    return { problem: `names no document: ${storage} has none with this ${of}` }
  })
}

/** A document that rules hide from the caller keeps its value, and is not said to be there. */
function unlessHidden(error: unknown): undefined {
  if (error instanceof QuoinError && error.code === 'CONFLICT') return
  throw error
}
