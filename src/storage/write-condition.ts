import type { JsonObject } from '../shared/json.ts'
import type { Meta } from '../shared/meta.ts'
import type { Mutation } from '../shared/mutation.ts'
import { applyMutations } from './apply-mutations.ts'
import type { WriteCondition, Written } from './database.ts'
import { StoredJson } from './stored-json.ts'

/** Why the change must not be made, or undefined when it may. `text`: the document with its `_meta`, parsed only if asked for. */
export function unmet(
  condition: WriteCondition | undefined,
  { update_hash: hash }: Meta,
  text: string,
): Written | undefined {
  if (condition === undefined) return undefined
  const { updateHash, allows } = condition
  if (updateHash !== undefined && updateHash !== hash)
    return { outcome: 'conflict', document: new StoredJson(text) }
  if (allows === undefined) return undefined
  const document = new StoredJson(text)
  return allows(document) ? undefined : { outcome: 'refused', document }
}

/** What the mutations make of a document's fields, with what the condition adds; `most` as for `applyMutations`. Throws INVALID_BODY. */
export function changedBody(
  before: JsonObject,
  mutations: readonly Mutation[],
  condition: WriteCondition | undefined,
  most: number,
): JsonObject {
  const after = applyMutations(before, mutations, most)
  return condition?.complete ? applyMutations(after, condition.complete(after), most) : after
}
