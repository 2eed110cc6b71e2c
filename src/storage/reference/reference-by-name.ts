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
 * Looks in all of these naming fields. A guid stands for itself. What none of them has, what they have of several documents, and a
 * storage without such a field, is a problem.
 */
export function referenceByName(
  session: Session,
  storage: string,
  fields: readonly string[],
  text: string,
): MaybePromise<FoundByName> {
  if (isGuid(text)) return { guid: text }
  if (fields.length === 0)
    return { problem: `is no guid, and ${storage} has no unique text field to find it by` }
  return andThen(holders(session, storage, fields, text), (found): FoundByName => {
    const [first, ...others] = found
    if (first === undefined)
      return { problem: `names no document: ${storage} has none with this ${fields.join(' or ')}` }
    if (others.every(({ guid }) => guid === first.guid)) return { guid: first.guid }
    const by = found.map(({ field }) => field).join(', ')
    return { problem: `names several documents of ${storage}, by ${by}: give the guid` }
  })
}

interface Holder {
  readonly field: string
  readonly guid: string
}

function holders(
  session: Session,
  storage: string,
  [field, ...others]: readonly string[],
  text: string,
): MaybePromise<readonly Holder[]> {
  if (field === undefined) return []
  const seen = recover(
    () => session.claims.findByUniqueKey(storage, [field], { [field]: text }),
    unlessHidden,
  )
  return andThen(seen, (holder) =>
    andThen(holders(session, storage, others, text), (rest) =>
      holder?.guid === undefined ? rest : [{ field, guid: holder.guid }, ...rest],
    ),
  )
}

/** A document that rules hide from the caller keeps its value, and is not said to be there; nor is one with a hidden field. */
function unlessHidden(error: unknown): undefined {
  if (error instanceof QuoinError && (error.code === 'CONFLICT' || error.code === 'INVALID_QUERY')) return
  throw error
}
