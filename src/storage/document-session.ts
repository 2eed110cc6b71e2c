/**
 * What is the same in the sessions of all engines: one document is changed, and the observers of its storage are told.
 *
 * A class without fields, because a field that a base class initialises makes a session twice as dear.
 */

import type { JsonObject } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Meta } from '../shared/meta.ts'
import type { Mutation } from '../shared/mutation.ts'
import { applyMutations } from './apply-mutations.ts'
import type { Change, Session, WriteCondition, Written } from './database.ts'
import { splitDocument } from './document-text.ts'
import type { Observers } from './observers.ts'
import { StoredJson } from './stored-json.ts'

/** Changes of one document in a transaction of an engine. Each gives `not_found` where there is nothing to change. */
export interface DocumentChanges<Writing, Outcome extends MaybePromise<Written>> {
  update(
    writing: Writing,
    guid: string,
    mutations: readonly Mutation[],
    condition: WriteCondition | undefined,
  ): Outcome
  setRemoved(writing: Writing, guid: string, removed: boolean, condition: WriteCondition | undefined): Outcome
  delete(writing: Writing, guid: string, condition: WriteCondition | undefined): Outcome
}

export abstract class DocumentSession<Writing, Outcome extends MaybePromise<Written>> {
  protected abstract get observers(): Observers
  protected abstract get documents(): DocumentChanges<Writing, Outcome>
  /** This session, as observers are given it. */
  protected abstract get told(): Session

  /** Does the change when it is the session's turn, and notes the document if it was written. */
  protected abstract change(
    storage: string,
    kind: Change['kind'],
    guid: string,
    work: (writing: Writing) => Outcome,
  ): MaybePromise<Written>

  update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written> {
    return this.#changeAndTell(storage, 'updated', guid, (writing) =>
      this.documents.update(writing, guid, mutations, options),
    )
  }

  setRemoved(
    storage: string,
    guid: string,
    removed: boolean,
    options?: WriteCondition,
  ): MaybePromise<Written> {
    return this.#changeAndTell(storage, removed ? 'removed' : 'restored', guid, (writing) =>
      this.documents.setRemoved(writing, guid, removed, options),
    )
  }

  delete(storage: string, guid: string, options?: WriteCondition): MaybePromise<Written> {
    return this.#changeAndTell(storage, 'deleted', guid, (writing) =>
      this.documents.delete(writing, guid, options),
    )
  }

  /** Tells the observers one after the other; each may write through this session. */
  protected tell(
    storage: string,
    kind: Change['kind'],
    before: StoredJson | undefined,
    after: StoredJson | undefined,
  ): MaybePromise<void> {
    const observers = this.observers.get(storage)
    const known = after ?? before
    if (observers === undefined || known === undefined) return undefined
    // Not parsed here: a deployment of 10,000 blocks takes 60 ms, and its observer parses it in turns.
    const { guid } = splitDocument(known.text).meta
    return observers.reduce<MaybePromise<void>>(
      (reported, observer) =>
        andThen(reported, () => observer(this.told, { storage, kind, guid, before, after })),
      undefined,
    )
  }

  #changeAndTell(
    storage: string,
    kind: Change['kind'],
    guid: string,
    work: (writing: Writing) => Outcome,
  ): MaybePromise<Written> {
    const change = this.change(storage, kind, guid, work)
    if (!this.observers.has(storage)) return change
    return andThen(change, (written) => {
      if (written.outcome !== 'written') return written
      const after = kind === 'deleted' ? undefined : written.document
      return andThen(this.tell(storage, kind, written.before, after), () => written)
    })
  }
}

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
