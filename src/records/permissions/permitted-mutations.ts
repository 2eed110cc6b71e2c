/** Which fields a user may set. */
import { isDeepStrictEqual } from 'node:util'
import { QuoinError } from '../../shared/errors.ts'
import { fieldOverlaps, overlap, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { StorageView } from './storage-view.ts'

/** A field that the user may not set, and what would set it. */
interface Denied {
  readonly name: string
  readonly mutation: Mutation
}

/** Throws DENIED_BY_RULE where a new document is given a field that the user may not set. */
export function checkCreated(view: StorageView, mutations: readonly Mutation[]): void {
  refuseChanged(view, deniedIn(view, mutations), {})
}

/**
 * Gives what is to be asked of the document that is changed: a field that the user sees and may not set can be sent back as it is. Throws
 * DENIED_BY_RULE for fields where an answer would tell a hidden value, and for objects around a hidden field, which would take it away.
 */
export function changedCheck(
  view: StorageView,
  mutations: readonly Mutation[],
): ((document: JsonObject) => void) | undefined {
  const { hasInside } = fieldOverlaps(view.hidden)
  const around = mutations.find(({ field }) => hasInside(field))
  if (around)
    throw new QuoinError(
      'DENIED_BY_RULE',
      `The field ${around.field} of the storage ${view.storage} has fields that are hidden from you: set the others of them one by one.`,
    )
  const denied = deniedIn(view, mutations)
  const hidden = denied.find(({ name }) => view.hidden.some((one) => overlap(one, name)))
  if (hidden) throw cannotSet(view, hidden.name)
  return denied.length === 0 ? undefined : (document) => refuseChanged(view, denied, document)
}

function deniedIn({ unsettable }: StorageView, mutations: readonly Mutation[]): readonly Denied[] {
  const { overlaps } = fieldOverlaps(unsettable)
  const touching = mutations.filter(({ field }) => overlaps(field))
  return unsettable.flatMap((name) =>
    touching.filter(({ field }) => overlap(name, field)).map((mutation) => ({ name, mutation })),
  )
}

function refuseChanged(view: StorageView, denied: readonly Denied[], document: JsonObject): void {
  const changed = denied.find((one) => !isUnchanged(one, document))
  if (changed) throw cannotSet(view, changed.name)
}

/** An object around the field counts for what it holds of the field. */
function isUnchanged({ name, mutation }: Denied, document: JsonObject): boolean {
  if (mutation.op !== 'set') return false
  const { field, value } = mutation
  const isAround = name.startsWith(`${field}.`)
  const is = isAround ? valueAt(value, parseFieldPath(name.slice(field.length + 1))) : value
  return isDeepStrictEqual(valueAt(document, parseFieldPath(isAround ? name : field)) ?? null, is ?? null)
}

function cannotSet({ storage }: StorageView, field: string): QuoinError {
  return new QuoinError('DENIED_BY_RULE', `You may not set the field ${field} of the storage ${storage}.`, {
    fields: [field],
  })
}
