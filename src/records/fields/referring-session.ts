/**
 * A session whose writes keep references: what a document refers to is present, and what ends is not referred to. Both are
 * made sure of in the transaction of the write, against writes of other sessions at the same time.
 */
import { fieldOverlaps } from '../../shared/field-path.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { behindFirstWrite, createAll } from '../../storage/create-all.ts'
import {
  type CreatedAll,
  type CreateOptions,
  documentOf,
  type NewDocument,
  type Session,
  type WriteCondition,
  type Written,
} from '../../storage/database.ts'
import { splitDocument, unmet } from '../../storage/document-session.ts'
import {
  missingError,
  missingOf,
  notRestored,
  type Reference,
  type References,
  type Target,
  targetsOf,
} from '../../storage/reference/references.ts'
import { removalOf, removeReferrers } from '../../storage/reference/remove-referrers.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { WrappedSession } from '../../storage/wrapped-session.ts'
import type { FieldRules } from './field-rules.ts'

export class ReferringSession extends WrappedSession {
  readonly #rules: Pick<FieldRules, 'references'>
  /** Fields that are cleared are written through it, so that what is computed from them is kept current. */
  readonly #validated: (session: Session) => Session

  constructor(
    session: Session,
    rules: Pick<FieldRules, 'references'>,
    validated: (session: Session) => Session,
  ) {
    super(session)
    this.#rules = rules
    this.#validated = validated
  }

  override create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): MaybePromise<StoredJson> {
    const create = () => this.session.create(storage, mutations, options)
    return this.#of(storage, create, (references) => {
      const targets = targetsOf(references, applyMutations({}, mutations)).filter(
        ({ reference, guid }) => reference.storage !== storage || guid !== options?.guid,
      )
      return andThen(missingOf(this.session, targets), ([missing]) => {
        if (missing) throw missingError(missing)
        return create()
      })
    })
  }

  override createAll(storage: string, documents: readonly NewDocument[]): MaybePromise<CreatedAll> {
    return this.#of(
      storage,
      () => createAll(this.session, storage, documents),
      (references) => this.#createReferring(storage, documents, references),
    )
  }

  override update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written> {
    const update = (condition = options) => this.session.update(storage, guid, mutations, condition)
    return this.#of(storage, update, (references) => {
      const { overlaps } = fieldOverlaps(mutations.map(({ field }) => field))
      const written = references.filter(({ field }) => overlaps(field))
      if (written.length === 0) return update()
      // What is added to a value is no guid, and the type of the field refuses it.
      const known = mutations.filter(({ op }) => op !== 'increment' && op !== 'append')
      const targets = targetsOf(written, applyMutations({}, known))
      return andThen(missingOf(this.session, targets), ([missing]) =>
        update(missing ? refusing(options, missingError(missing)) : options),
      )
    })
  }

  override setRemoved(
    storage: string,
    guid: string,
    removed: boolean,
    options?: WriteCondition,
  ): MaybePromise<Written> {
    const change = (condition = options) => this.session.setRemoved(storage, guid, removed, condition)
    if (removed)
      return this.#to(storage, change, (all) => this.#remove(all, { storage, guid, options }, change))
    return this.#of(storage, change, (references) =>
      andThen(this.session.get(storage, guid, { removed: true }), (document) => {
        const targets = document ? targetsOf(references, documentOf(document)) : []
        const others = targets.filter(
          (target) => target.reference.storage !== storage || target.guid !== guid,
        )
        return andThen(missingOf(this.session, others), ([missing]) =>
          change(missing ? refusing(options, notRestored(missing)) : options),
        )
      }),
    )
  }

  override delete(storage: string, guid: string, options?: WriteCondition): MaybePromise<Written> {
    const change = (condition = options) => this.session.delete(storage, guid, condition)
    return this.#to(storage, change, (all) =>
      this.#remove(all, { storage, guid, options, hard: true }, change),
    )
  }

  #of<T>(
    storage: string,
    plain: () => MaybePromise<T>,
    referring: (references: readonly Reference[]) => MaybePromise<T>,
  ): MaybePromise<T> {
    if (isOwnStorage(storage)) return plain()
    return andThen(this.#rules.references(), (all) => {
      const references = all.of(storage)
      return references.length === 0 ? plain() : referring(references)
    })
  }

  #to<T>(
    storage: string,
    plain: () => MaybePromise<T>,
    referred: (all: References) => MaybePromise<T>,
  ): MaybePromise<T> {
    if (isOwnStorage(storage)) return plain()
    return andThen(this.#rules.references(), (all) =>
      all.to(storage).length === 0 ? plain() : referred(all),
    )
  }

  async #createReferring(
    storage: string,
    documents: readonly NewDocument[],
    references: readonly Reference[],
  ): Promise<CreatedAll> {
    const targets = documents.map(({ mutations }) => targetsOf(references, applyMutations({}, mutations)))
    const missing = new Set(await missingOf(this.session, targets.flat()))
    // One may refer to another one of them that comes before it, or to itself.
    const made = new Set<string | undefined>()
    let refused: Target | undefined
    const at = documents.findIndex(({ options }, place) => {
      made.add(options?.guid)
      refused = targets[place]?.find(
        (target) => missing.has(target) && !(target.reference.storage === storage && made.has(target.guid)),
      )
      return refused !== undefined
    })
    const accepted = at < 0 ? documents : documents.slice(0, at)
    const created = await createAll(this.session, storage, accepted)
    // One of those before it may be refused for another reason, and is named first.
    return created.refused || !refused ? created : { ...created, refused: missingError(refused) }
  }

  async #remove(
    all: References,
    removal: {
      readonly storage: string
      readonly guid: string
      readonly options: WriteCondition | undefined
      readonly hard?: boolean
    },
    change: (condition?: WriteCondition) => MaybePromise<Written>,
  ): Promise<Written> {
    const { storage, guid, options, hard = false } = removal
    const held = await this.session.claims.lockDocuments(storage, [guid], 'removal')
    const document = held.guids.length === 0 ? undefined : await this.session.get(storage, guid)
    // What the write itself says of such a document: not found, conflict or refused.
    if (document === undefined || !isMet(options, document)) return change()
    const asked = options?.unreferred ? refusingAll(all) : all
    const found = await removalOf(this.session, asked, { storage, guid }, held)
    if (found.removed.length + found.cleared.length === 0) return change()
    try {
      await removeReferrers(this.#validated(this.session), found, hard)
      return await change()
    } catch (error) {
      throw behindFirstWrite(error)
    }
  }
}

function refusingAll(all: References): References {
  return { ...all, to: (storage) => all.to(storage).map((one) => ({ ...one, onDelete: 'refuse' })) }
}

function isMet(condition: WriteCondition | undefined, document: StoredJson): boolean {
  return unmet(condition, splitDocument(document.text).meta, document.text) === undefined
}

/** The condition speaks first, on the document: not found, conflict and refused come before what references say. */
function refusing(condition: WriteCondition | undefined, error: Error): WriteCondition {
  return {
    ...condition,
    allows(document) {
      if (condition?.allows?.(document) === false) return false
      throw error
    },
  }
}
