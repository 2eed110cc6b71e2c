/**
 * A session on behalf of a user: it finds what the rules let the user see, without hidden fields, and writes what they allow.
 *
 * What a user does not see is not there: a write of it is `not_found`, before anything else is said of it. What the rules do not
 * allow throws DENIED_BY_RULE. Of `create`, and of what a change makes of a document, that is known after the write: all that the
 * session has written is undone then.
 */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { type Query, type Search, search } from '../../shared/query.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import { createAll } from '../../storage/create-all.ts'
import {
  type CreatedAll,
  type CreateOptions,
  documentOf,
  type Found,
  type FoundWithTotal,
  type NewDocument,
  type Session,
  type WriteCondition,
  type Written,
} from '../../storage/database.ts'
import { updateHashOf } from '../../storage/document-fields.ts'
import { findWithTotal } from '../../storage/find-documents.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { UniqueConflict } from '../../storage/unique/duplicates.ts'
import { WrappedSession } from '../../storage/wrapped-session.ts'
import { allowed, type Judge, judged, StaleVerdict } from './judge.ts'
import { changedCheck, checkCreated } from './permitted-mutations.ts'
import { permittedAggregate, permittedQuery, permittedSearch, type ViewOf } from './permitted-query.ts'
import { checkVisible, deniedBy, type StorageView, type WriteName } from './storage-view.ts'
import { visibleOf, visiblePage } from './visible-page.ts'

/** What the session asks of the rules. The same view each time, until a rule changes. */
export interface Views {
  of(storage: string): MaybePromise<StorageView | undefined>
  /** The fields that `by` of an upsert means: names of fields, or the name of a unique key. */
  keyFields(storage: string, by: readonly string[]): MaybePromise<readonly string[]>
}

export class PermittedSession extends WrappedSession {
  readonly #views: Views

  constructor(session: Session, views: Views) {
    super(session)
    this.#views = views
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return andThen(this.#views.of(storage), (view) =>
      view?.leads.see
        ? this.#getReferenced(view, guid, options?.removed === true)
        : andThen(this.session.get(storage, guid, options), (document) => {
            if (document === undefined || view === undefined) return document
            return view.sees(document) ? visibleOf(document, view.hidden) : undefined
          }),
    )
  }

  /** One search, so that the document and what decides on it are of one moment. */
  #getReferenced(
    view: StorageView,
    guid: string,
    includeRemoved: boolean,
  ): MaybePromise<StoredJson | undefined> {
    const named: Query = { kind: 'term', field: '_meta.guid', value: guid }
    const query = view.see ? ({ kind: 'and', queries: [named, view.see] } as const) : named
    const requested = search({ query, limit: 1, includeRemoved })
    return andThen(this.session.find(view.storage, requested), ({ documents, length }) =>
      length === 0
        ? undefined
        : visibleOf(new StoredJson(documents.text.trim().slice(1, -1).trim()), view.hidden),
    )
  }

  override find(storage: string, search: Search): MaybePromise<Found> {
    return this.#asked(storage, search.query, (viewOf) =>
      andThen(this.session.find(storage, permittedSearch(storage, search, viewOf)), (found) =>
        visibleFound(found, viewOf(storage)),
      ),
    )
  }

  override findWithTotal(storage: string, search: Search): MaybePromise<FoundWithTotal> {
    return this.#asked(storage, search.query, (viewOf) =>
      andThen(
        findWithTotal(this.session, storage, permittedSearch(storage, search, viewOf)),
        ({ found, total }) =>
          andThen(visibleFound(found, viewOf(storage)), (visible) => ({ found: visible, total })),
      ),
    )
  }

  override count(storage: string, query: Query, includeRemoved?: boolean) {
    return this.#asked(storage, query, (viewOf) =>
      this.session.count(storage, permittedQuery(storage, query, viewOf), includeRemoved),
    )
  }

  override aggregate(storage: string, requested: Aggregate) {
    return this.#asked(storage, requested.query, (viewOf) =>
      this.session.aggregate(storage, permittedAggregate(storage, requested, viewOf)),
    )
  }

  override create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): MaybePromise<StoredJson> {
    return andThen(this.#views.of(storage), (view) => {
      if (view === undefined) return this.session.create(storage, mutations, options)
      checkCreated(view, mutations)
      return andThen(this.session.create(storage, mutations, options), (document) => {
        const verdict = allowed(this.session, view, 'create', [document])
        return andThen(verdict, ([isAllowed]) =>
          isAllowed ? visibleOf(document, view.hidden) : this.#undone(deniedBy(storage, 'create')),
        )
      })
    })
  }

  /** The session has to be rolled back when one is refused: those behind it may be written already. */
  override async createAll(storage: string, documents: readonly NewDocument[]): Promise<CreatedAll> {
    const view = await this.#views.of(storage)
    if (view === undefined) return createAll(this.session, storage, documents)
    const { settable, refused } = untilDenied(view, documents)
    const created = await createAll(this.session, storage, settable)
    const denied = (await allowed(this.session, view, 'create', created.documents)).indexOf(false)
    const accepted = denied < 0 ? created.documents : created.documents.slice(0, denied)
    return {
      documents: accepted.map((document) => visibleOf(document, view.hidden)),
      refused: denied < 0 ? (created.refused ?? refused) : deniedBy(storage, 'create'),
    }
  }

  override update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written> {
    const update = (condition = options) => this.session.update(storage, guid, mutations, condition)
    return this.#write({ storage, guid, name: 'change' }, options, update, (view) =>
      changedCheck(view, mutations),
    )
  }

  override setRemoved(storage: string, guid: string, removed: boolean, options?: WriteCondition) {
    return this.#write({ storage, guid, name: 'remove' }, options, (condition = options) =>
      this.session.setRemoved(storage, guid, removed, condition),
    )
  }

  override delete(storage: string, guid: string, options?: WriteCondition) {
    return this.#write({ storage, guid, name: 'remove' }, options, (condition = options) =>
      this.session.delete(storage, guid, condition),
    )
  }

  /** A document that the user does not see keeps its value: its key is taken. */
  override findByUniqueKey(storage: string, by: readonly string[], document: JsonObject) {
    return andThen(this.#views.of(storage), (view) => {
      if (view === undefined) return this.session.claims.findByUniqueKey(storage, by, document)
      return andThen(this.#views.keyFields(storage, by), (fields) => {
        for (const field of fields) checkVisible(view, field)
        return andThen(this.session.claims.findByUniqueKey(storage, by, document), (holder) => {
          if (holder?.guid === undefined) return holder
          return andThen(this.get(storage, holder.guid), (seen) => {
            if (seen === undefined) throw takenBy(storage, holder.key, fields)
            return holder
          })
        })
      })
    })
  }

  #write(
    { storage, guid, name }: { readonly storage: string; readonly guid: string; readonly name: WriteName },
    options: WriteCondition | undefined,
    write: (condition?: WriteCondition) => MaybePromise<Written>,
    checkOf: (view: StorageView) => ((document: JsonObject) => void) | undefined = () => undefined,
  ): MaybePromise<Written> {
    return andThen(this.#views.of(storage), (view) => {
      if (view === undefined) return write()
      return judged(this.session, view, { guid, name }, (judge) => {
        const verdict: { outcome: Unmet } = { outcome: 'refused' }
        const allows = (document: StoredJson) => {
          const unmet = unmetBy(view, judge, options, document)
          if (unmet !== undefined) {
            verdict.outcome = unmet
            return false
          }
          if (!judge.allows(name, document)) throw deniedBy(storage, name)
          checkOf(view)?.(documentOf(document))
          return true
        }
        const { updateHash: _checked, ...rest } = options ?? {}
        return andThen(write({ ...rest, allows }), (written) => {
          if (verdict.outcome === 'stale') throw new StaleVerdict()
          if (name !== 'change' || written.outcome !== 'written')
            return permitted(written, view, verdict.outcome)
          return andThen(allowed(this.session, view, name, [written.document]), ([isAllowed]) =>
            isAllowed ? permitted(written, view, verdict.outcome) : this.#undone(deniedBy(storage, name)),
          )
        })
      })
    })
  }

  /** A flow may continue behind an error and commit: what is denied must not be committed with it. */
  #undone(error: Error): MaybePromise<never> {
    return andThen(this.session.transaction.rollback(), () => {
      throw error
    })
  }

  #asked<T>(storage: string, query: Query, work: (viewOf: ViewOf) => MaybePromise<T>): MaybePromise<T> {
    const views = new Map<string, StorageView | undefined>()
    const names = [storage, ...otherStorages(query)]
    const loaded = names.reduce<MaybePromise<void>>(
      (before, name) =>
        andThen(before, () => andThen(this.#views.of(name), (view) => void views.set(name, view))),
      undefined,
    )
    return andThen(loaded, () => work((name) => views.get(name)))
  }
}

/** Those before the first one that is given a field which the user may not set. */
function untilDenied(view: StorageView, documents: readonly NewDocument[]) {
  for (const [place, { mutations }] of documents.entries()) {
    try {
      checkCreated(view, mutations)
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      return { settable: documents.slice(0, place), refused: error }
    }
  }
  return { settable: documents, refused: undefined }
}

type Unmet = 'stale' | 'not_found' | 'conflict' | 'refused'

/** In the order in which each says more of the document: that it is there, that it was changed by now, that a condition refuses it. */
function unmetBy(
  view: StorageView,
  judge: Judge,
  options: WriteCondition | undefined,
  document: StoredJson,
): Unmet | undefined {
  if (judge.isStale(document)) return 'stale'
  if (!judge.sees(document)) return 'not_found'
  const { updateHash, allows } = options ?? {}
  if (updateHash !== undefined && updateHash !== updateHashOf(documentOf(document))) return 'conflict'
  return allows?.(visibleOf(document, view.hidden)) === false ? 'refused' : undefined
}

function permitted(written: Written, view: StorageView, unmet: Unmet): Written {
  if (written.outcome === 'not_found') return written
  const document = visibleOf(written.document, view.hidden)
  if (written.outcome === 'written')
    return { ...written, document, before: visibleOf(written.before, view.hidden) }
  if (unmet === 'not_found') return { outcome: unmet }
  return { outcome: unmet === 'conflict' ? unmet : 'refused', document }
}

function takenBy(storage: string, key: string, fields: readonly string[]): UniqueConflict {
  const folding = { ignoreCase: false, ignoreAccents: false }
  return new UniqueConflict(storage, { name: key, fields: fields.map((name) => ({ name, ...folding })) })
}

function visibleFound(found: Found, view: StorageView | undefined): MaybePromise<Found> {
  if (view === undefined || view.hidden.length === 0) return found
  return andThen(visiblePage(found.documents, view.hidden), (documents) => ({
    documents,
    length: found.length,
    next: () => found.next(),
  }))
}
