/**
 * What is the same in the sessions of all engines: one document is changed, and the observers of its storage are told.
 *
 * A class without fields, because a field that a base class initialises makes a session twice as dear.
 */

import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { guidSource, type Random } from '../shared/guid.ts'
import { type JsonObject, MANY_FIELDS, MOST_FIELDS, SHORTEST_MANY_FIELDS } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Meta } from '../shared/meta.ts'
import type { Mutation } from '../shared/mutation.ts'
import { hasManyFields } from '../shared/numbers/exact-json.ts'
import { applyMutations } from './apply-mutations.ts'
import type { Change, CreateOptions, Session, WriteCondition, Written } from './database.ts'
import type { Observers } from './observers.ts'
import { StoredJson } from './stored-json.ts'
import { isOwnStorage } from './system-storages.ts'

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

/** Makes and renews `_meta`. */
export interface Stamps {
  created(options?: CreateOptions): Meta
  /** `removed`: false takes the mark of a soft delete away, true sets it, undefined leaves it. */
  changed(meta: Meta, removed?: boolean): Meta
}

export interface StampOptions {
  readonly clock: Clock
  readonly random: Random
  /** Cluster number. */
  readonly entity: number
  /** New documents are later than this time, in milliseconds. */
  readonly last?: number | undefined
}

export function stamps({ clock, random, entity, last }: StampOptions): Stamps {
  const guid = guidSource(clock, random, last)
  const bytes = new Uint8Array(16)
  // Random and not a hash of the content: it must differ also when a client writes the same content again.
  const updateHash = () => {
    random(bytes)
    return Buffer.from(bytes.buffer).toString('hex')
  }
  return {
    created(options) {
      const id = options?.guid ?? guid()
      // The guid's own time, not the clock's: when the clock steps back, the order by creation is still that of the guids.
      const cms = options?.cms ?? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
      const created = Math.floor(cms / 1000)
      return {
        guid: id,
        entity,
        created,
        updated: created,
        cms,
        ums: cms,
        removed: 0,
        expiry: options?.expiry ?? -1,
        update_hash: updateHash(),
      }
    },
    changed(meta, removed) {
      const ums = Math.max(clock(), meta.ums)
      const updated = Math.floor(ums / 1000)
      return {
        ...meta,
        updated,
        ums,
        removed: removed === undefined ? meta.removed : removed ? updated : 0,
        update_hash: updateHash(),
      }
    },
  }
}

/**
 * The time from which a process counts on. The clock may have been set back while no process ran: documents that are created then
 * would sort before those that are there. So times continue from that of the newest document, until the clock has caught up.
 */
/** A document that is further ahead is of a clock that was wrong, and would take all later ones with it. */
const MOST_AHEAD = 86_400_000
/** Less is what clocks of machines differ by: nothing is said of it. */
const WORTH_A_WORD = 60_000

/** `newest`: milliseconds, of any storage. Gives the time that the next document is later than; undefined: any. */
export function lastTime(
  newest: number | undefined,
  now: number,
  notice: (message: string) => void = () => undefined,
): number | undefined {
  if (newest === undefined || newest <= now) return undefined
  const ahead = newest - now
  const behind = `The clock is ${Math.round(ahead / 1000)} seconds behind the newest document, so it was set back, or was ahead before.`
  if (ahead > MOST_AHEAD) {
    notice(
      `${behind} New documents have the time of the clock, and sort before that document. Check the clock.`,
    )
    return undefined
  }
  if (ahead >= WORTH_A_WORD)
    notice(
      `${behind} New documents have times behind that document until the clock has caught up. Check the clock.`,
    )
  return newest
}

// A document's text: `{"_meta":{…},…}`. `_meta` is always the first key and flat, and no value in it holds a brace, so it
// can be cut off and put on without parsing the rest. Soft deletes and expiry then never touch what the builder stored.

/** A larger document would make every list that it is in slow, and every change of it a write of that size. */
const MAX_MIB = 16
const MAX_BYTES = MAX_MIB * 1024 * 1024

const OPEN = '{"_meta":'

interface DocumentParts {
  readonly meta: Meta
  /** JSON object without `_meta`. */
  readonly body: string
}

export function splitDocument(text: string): DocumentParts {
  const end = text.indexOf('}') + 1
  if (!text.startsWith(OPEN) || end === 0) throw new TypeError('A stored document does not start with _meta.')
  // The text is our own: joinDocument wrote it.
  const meta = JSON.parse(text.slice(OPEN.length, end)) as Meta
  const rest = text.slice(end)
  return { meta, body: rest === '}' ? '{}' : `{${rest.slice(1)}` }
}

export function joinDocument(meta: Meta, body: string): string {
  return `${OPEN}${JSON.stringify(meta)}${body === '{}' ? '' : ','}${body.slice(1)}`
}

/** Fields that what is set in a document of a storage may have. Storages of Quoin hold runs and deployments, of any width. */
export function mostFields(storage: string): number {
  return isOwnStorage(storage) ? Number.POSITIVE_INFINITY : MOST_FIELDS
}

/** The text of what mutations made. Throws INVALID_BODY if that is too large. */
export function bodyText(body: JsonObject, storage: string): string {
  const text = JSON.stringify(body)
  if (text.length > SHORTEST_MANY_FIELDS && !isOwnStorage(storage) && hasManyFields(text))
    throw new QuoinError('INVALID_BODY', `The document ${MANY_FIELDS}.`)
  if (text.length > MAX_BYTES / 3 && Buffer.byteLength(text) > MAX_BYTES)
    throw new QuoinError(
      'INVALID_BODY',
      `The document is larger than ${MAX_MIB} MiB. Store large content as an asset.`,
    )
  return text
}

export function parseBody(text: string): JsonObject {
  // As in splitDocument: an object, because an object was written.
  return JSON.parse(text) as JsonObject
}
