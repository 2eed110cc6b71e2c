/** Which fields a user may set. */
import { isDeepStrictEqual } from 'node:util'
import { QuoinError } from '../../shared/errors.ts'
import { overlap, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { StorageView } from './storage-view.ts'

/** Throws DENIED_BY_RULE where a new document is given a field that the user may not set. */
export function checkCreated(view: StorageView, mutations: readonly Mutation[]): void {
  const [denied] = settingDenied(view, mutations)
  if (denied) throw cannotSet(view, denied.field)
}

/**
 * Gives what is to be asked of the document that is changed: a field that the user sees and may not set can be sent back as it is. Throws
 * DENIED_BY_RULE for fields where an answer would tell a hidden value, and for objects around a hidden field, which would take it away.
 */
export function changedCheck(
  view: StorageView,
  mutations: readonly Mutation[],
): ((document: JsonObject) => void) | undefined {
  const around = mutations.find(({ field }) => view.hidden.some((name) => name.startsWith(`${field}.`)))
  if (around)
    throw new QuoinError(
      'DENIED_BY_RULE',
      `The field ${around.field} of the storage ${view.storage} has fields that are hidden from you: set the others of them one by one.`,
    )
  const denied = settingDenied(view, mutations)
  const [hidden] = denied.filter(({ field }) => view.hidden.some((name) => overlap(name, field)))
  if (hidden) throw cannotSet(view, hidden.field)
  if (denied.length === 0) return undefined
  return (document) => {
    const changed = denied.find((mutation) => !isKept(mutation, document))
    if (changed) throw cannotSet(view, changed.field)
  }
}

function settingDenied({ unsettable }: StorageView, mutations: readonly Mutation[]): readonly Mutation[] {
  if (unsettable.length === 0) return []
  return mutations.filter(({ field }) => unsettable.some((name) => overlap(name, field)))
}

function isKept(mutation: Mutation, document: JsonObject): boolean {
  if (mutation.op !== 'set') return false
  return isDeepStrictEqual(valueAt(document, parseFieldPath(mutation.field)) ?? null, mutation.value)
}

function cannotSet({ storage }: StorageView, field: string): QuoinError {
  return new QuoinError('DENIED_BY_RULE', `You may not set the field ${field} of the storage ${storage}.`, {
    fields: [field],
  })
}
