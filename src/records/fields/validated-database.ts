/**
 * A database whose sessions check every write of a document against the rules of its fields, from every caller: blocks,
 * document endpoints, imports. It is the raw database with other sessions. Where no field has a rule, the sessions are the
 * raw database's own, so that it costs nothing.
 */

import { pauses } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type FieldRule, isAutomatic, isSecondName } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { Query, Search } from '../../shared/query.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { behindFirstWrite, createAll, refusalOf } from '../../storage/create-all.ts'
import {
  type CreatedAll,
  type CreateOptions,
  documentOf,
  type NewDocument,
  type Session,
  type WriteCondition,
  type Written,
} from '../../storage/database.ts'
import type { Index } from '../../storage/document-index.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { keepsRules, type RawDatabase, type ValidatedDatabase } from '../../storage/validated.ts'
import { wrappedDatabase } from '../../storage/wrapped-session.ts'
import { ruleIndexes } from '../permissions/storage-rules.ts'
import { askedQuery, asksForOthers } from './asked-values.ts'
import { checkListed } from './closed-fields.ts'
import { checkConstraints, touchedConstraints } from './constraints.ts'
import type { FieldRules, StorageRules } from './field-rules.ts'
import {
  type FieldWorld,
  type FieldWriter,
  fieldWriter,
  type NumbersOfOne,
  type TakenNumbers,
  withNumbers,
} from './field-writer.ts'
import { NumberReserve } from './number-reserve.ts'
import { empties, nextNumbers, unnumbered } from './numbered-fields.ts'
import { referenceIndex } from './reference-fields.ts'
import { ReferringSession } from './referring-session.ts'
import {
  checked,
  completedToCreate,
  completions,
  type FilledDocument,
  filledToCreate,
  withoutFixed,
} from './rule-mutations.ts'
import { SortingSession } from './sorting-session.ts'
import { aloneWithUnique, settleUnique, uniqueKeysOf } from './unique-fields.ts'
import { writePlan } from './write-plan.ts'

export function validatedDatabase(
  database: RawDatabase,
  rules: FieldRules,
  world: FieldWorld,
): ValidatedDatabase {
  const validated = wrappedDatabase(database, {
    async ensure(name, needs) {
      const isNew = !isOwnStorage(name) && !database.has(name)
      await database.ensure(name, needs)
      if (isNew) await ensureReferences(database, rules, name)
      // Its fields may have been described before it was there.
      if (isNew && !needs?.settlesUnique && uniqueKeysOf(await rules.of(name)).length > 0)
        await aloneWithUnique(database, () => settleUnique(database, name))
    },
    session(origin) {
      const session = database.session(origin)
      if (rules.none()) return session
      const keeping = (inner: Session) => new ValidatingSession(inner, rules, world)
      return keeping(rules.refer() ? new ReferringSession(session, rules, keeping) : session)
    },
  })
  const { indexes } = database.capabilities
  const capabilities = {
    ...database.capabilities,
    indexes: {
      ...indexes,
      release: async (storage: string, requested: readonly Index[]) =>
        indexes.release(storage, [
          ...requested,
          ...(await referenceIndexes(rules, storage)),
          ...ruleIndexes(storage, await rules.permissions(), await rules.references()),
        ]),
    },
  }
  return { ...validated, capabilities, [keepsRules]: true }
}

/** The fields may have been described before the storage was there. */
async function ensureReferences(database: RawDatabase, rules: FieldRules, storage: string): Promise<void> {
  const indexes = await referenceIndexes(rules, storage)
  if (indexes.length > 0) await database.ensure(storage, { indexes })
}

async function referenceIndexes(rules: FieldRules, storage: string): Promise<readonly Index[]> {
  return (await rules.references()).of(storage).map(referenceIndex)
}

function isMigrating(rules: readonly FieldRule[]): boolean {
  return rules.some(
    (rule) => rule.conversion !== undefined || rule.preparation !== undefined || isSecondName(rule),
  )
}

function namesOf(mutations: readonly Mutation[]): readonly string[] {
  return mutations.map(({ field }) => field)
}

/** Whether every document fits. */
function isFree({ rules, closed, constraints }: StorageRules): boolean {
  return rules.length === 0 && !closed && constraints === undefined
}

/** The fields were changed after a write was checked: it is checked again. A QuoinError leaves the transaction as it is. */
class FormerRules extends QuoinError {
  constructor() {
    super(
      'CONFLICT',
      'The fields of the storage were changed again and again while the document was written.',
    )
  }
}

/** Each waits for a change of fields that another client has made meanwhile. */
const MOST_CHECKS = 10

interface Update {
  readonly storage: string
  readonly guid: string
  readonly mutations: readonly Mutation[]
  readonly options: WriteCondition | undefined
}

class ValidatingSession extends SortingSession {
  readonly #world: FieldWorld
  readonly #reserve = new NumberReserve()
  /** Documents that a trial has created. */
  #tried = 0

  constructor(session: Session, rules: FieldRules, world: FieldWorld) {
    super(session, rules)
    this.#world = world
  }

  override create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): MaybePromise<StoredJson> {
    if (isOwnStorage(storage)) return this.session.create(storage, mutations, options)
    return andThen(this.rules.storageRules(storage), (storageRules) => {
      if (isFree(storageRules)) return this.session.create(storage, mutations, options)
      const { rules } = storageRules
      const filled = this.#filled(storage, storageRules, mutations)
      const needed = options?.restored && unnumbered(rules, filled.document).length === 0 ? 0 : 1
      // What is refused so far has taken no number.
      return andThen(this.#numbers(storage, rules, needed), ([taken]) =>
        this.session.create(
          storage,
          this.#completed(storageRules, filled, taken, !options?.restored),
          options,
        ),
      )
    })
  }

  override async createAll(storage: string, documents: readonly NewDocument[]): Promise<CreatedAll> {
    if (isOwnStorage(storage)) return createAll(this.session, storage, documents)
    const storageRules = await this.rules.storageRules(storage)
    if (isFree(storageRules)) return createAll(this.session, storage, documents)
    const { rules } = storageRules
    const filled = await uptoRefusal(documents, ({ mutations }) =>
      this.#filled(storage, storageRules, mutations),
    )
    const taken = await this.#numbers(storage, rules, filled.made.length)
    const completed = await uptoRefusal(filled.made, (one, at) =>
      this.#completed(storageRules, one, taken[at]),
    )
    const made = completed.made.map((mutations, at) => ({ mutations, options: documents[at]?.options }))
    // One of those before it may be refused for another reason, and is named first.
    const created = await createAll(this.session, storage, made)
    if (!this.session.origin.trial) this.#reserve.giveBack(storage, taken.slice(created.documents.length))
    return created.refused ? created : { ...created, refused: completed.refused ?? filled.refused }
  }

  override update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: WriteCondition,
  ): MaybePromise<Written> {
    if (isOwnStorage(storage)) return this.session.update(storage, guid, mutations, options)
    return this.#checkedUpdate({ storage, guid, mutations, options }, MOST_CHECKS)
  }

  #checkedUpdate(update: Update, checks: number): MaybePromise<Written> {
    const { storage, guid, mutations, options } = update
    return andThen(this.rules.storageRules(storage), (storageRules) => {
      if (isFree(storageRules)) return this.session.update(storage, guid, mutations, options)
      return recover(
        () => this.#update(storageRules, update),
        (error) => {
          if (error instanceof FormerRules && checks > 1) return this.#checkedUpdate(update, checks - 1)
          throw error
        },
      )
    })
  }

  #update(storageRules: StorageRules, { storage, guid, mutations, options }: Update): MaybePromise<Written> {
    const { rules } = storageRules
    const plan = writePlan(rules)
    const input = plan.renamed?.(mutations) ?? mutations
    const { later, condition } = checked({ ...storageRules, storage }, input, options)
    const isCurrent = () => {
      // Fields may have changed while the write waited for its turn.
      if (this.rules.known(storage) !== storageRules) throw new FormerRules()
    }
    const constraints = storageRules.constraints
      ? touchedConstraints(storageRules.constraints, [
          ...namesOf(input),
          ...rules.filter(isAutomatic).map(({ name }) => name),
        ])
      : []
    if (later.length === 0 && !plan.complete && constraints.length === 0) {
      const complete = () => {
        isCurrent()
        return []
      }
      return this.session.update(storage, guid, input, { ...condition, complete })
    }
    const sent = withoutFixed(input, plan.fixed)
    const update = (numbers?: NumbersOfOne) => {
      const complete = (after: JsonObject) => {
        isCurrent()
        const writer = withNumbers(this.#writer(), numbers)
        const added = completions(rules, later, after, writer)
        const touched = touchedConstraints(constraints, namesOf([...input, ...added]))
        if (touched.length > 0) checkConstraints(touched, applyMutations(after, added), writer)
        return added
      }
      return this.session.update(storage, guid, sent, { ...condition, complete })
    }
    if (!plan.numbered.some(({ name }) => input.some((mutation) => empties(mutation, name)))) return update()
    return andThen(this.#toFill(storage, guid, rules, options?.following?.length), update)
  }

  /** Without a look at the document while there are numbers left: it takes one only where it has none. */
  #toFill(
    storage: string,
    guid: string,
    rules: readonly FieldRule[],
    following = 0,
  ): MaybePromise<NumbersOfOne | undefined> {
    const { numbered } = writePlan(rules)
    if (this.#reserve.has(storage, numbered)) return this.#reserve.lazily(storage)
    return andThen(
      this.session.get(storage, guid),
      (stored) =>
        stored && this.#reserve.missing(this.session, storage, unnumbered(rules, stored), following),
    )
  }

  /** What others got while it was removed, it gets in the same transaction: a number, a field's new name, the new form of a value. */
  override setRemoved(
    storage: string,
    guid: string,
    removed: boolean,
    options?: WriteCondition,
  ): MaybePromise<Written> {
    const written = this.session.setRemoved(storage, guid, removed, options)
    if (removed || isOwnStorage(storage)) return written
    return andThen(written, (restored) =>
      restored.outcome === 'written'
        ? this.#settled(storage, guid, restored, options?.following?.length)
        : restored,
    )
  }

  /** One that was removed when others got their number, or when a field was renamed. */
  #settled(
    storage: string,
    guid: string,
    restored: Extract<Written, { outcome: 'written' }>,
    following: number | undefined,
  ): MaybePromise<Written> {
    return andThen(this.rules.storageRules(storage), ({ rules }) => {
      const former = writePlan(rules).former?.(documentOf(restored.document)) ?? []
      const without = unnumbered(rules, restored.document)
      return andThen(
        this.#reserve.missing(this.session, storage, without, following),
        (numbers): MaybePromise<Written> => {
          if (!numbers && former.length === 0 && !isMigrating(rules)) return restored
          const complete = (after: JsonObject) =>
            completions(rules, [], after, withNumbers(this.#writer(), numbers))
          return recover(
            () => this.session.update(storage, guid, former, { complete }),
            (error) => {
              throw behindFirstWrite(error)
            },
          )
        },
      )
    })
  }

  override find(storage: string, search: Search) {
    return andThen(this.asStored(storage, search.query), (query) =>
      super.find(storage, query === search.query ? search : { ...search, query }),
    )
  }

  override findWithTotal(storage: string, search: Search) {
    return andThen(this.asStored(storage, search.query), (query) =>
      super.findWithTotal(storage, query === search.query ? search : { ...search, query }),
    )
  }

  override count(storage: string, query: Query, includeRemoved?: boolean) {
    return andThen(this.asStored(storage, query), (asked) => super.count(storage, asked, includeRemoved))
  }

  override aggregate(storage: string, requested: Aggregate) {
    return andThen(this.asStored(storage, requested.query), (query) =>
      super.aggregate(storage, { ...requested, query }),
    )
  }

  override asStored(storage: string, query: Query): MaybePromise<Query> {
    if (query.kind === 'all' || isOwnStorage(storage)) return query
    return andThen(this.rules.storageRules(storage), ({ rules }) => {
      // Only a query through a reference asks for fields of another storage.
      if (!this.rules.refer() && !asksForOthers(rules)) return query
      return askedQuery(storage, query, (name) => this.rules.storageRules(name))
    })
  }

  override findByUniqueKey(storage: string, by: readonly string[], document: JsonObject) {
    if (isOwnStorage(storage)) return super.findByUniqueKey(storage, by, document)
    return andThen(this.rules.storageRules(storage), ({ rules }) =>
      super.findByUniqueKey(storage, by, writePlan(rules).stored(document)),
    )
  }

  #filled(storage: string, storageRules: StorageRules, mutations: readonly Mutation[]): FilledDocument {
    const input = writePlan(storageRules.rules).renamed?.(mutations) ?? mutations
    if (storageRules.closed) checkListed(storage, storageRules.rules, input)
    return filledToCreate(storageRules.rules, input, this.#writer())
  }

  /** Of the documents, by their place; none where no field is numbered. */
  #numbers(
    storage: string,
    rules: readonly FieldRule[],
    count: number,
  ): MaybePromise<readonly TakenNumbers[]> {
    const { numbered } = writePlan(rules)
    if (numbered.length === 0 || count === 0) return []
    if (!this.session.origin.trial) return this.#reserve.take(this.session, storage, numbered, count)
    const before = this.#tried
    this.#tried += count
    return andThen(nextNumbers(this.session, storage, numbered), (next) =>
      Array.from({ length: count }, (_, at) => next(before + at)),
    )
  }

  override commit(): MaybePromise<void> {
    this.#reserve.forget()
    return super.commit()
  }

  override rollback(): MaybePromise<void> {
    this.#reserve.forget()
    return super.rollback()
  }

  #completed(
    { rules, constraints }: StorageRules,
    filled: FilledDocument,
    numbers: TakenNumbers | undefined,
    isNew = true,
  ) {
    const mutations = completedToCreate(rules, filled, numbers, isNew)
    if (constraints) checkConstraints(constraints, applyMutations({}, mutations), filled.writer)
    if (!this.session.origin.trial) return mutations
    // Another session may be given the same number meanwhile.
    return withoutFixed(
      mutations,
      writePlan(rules).numbered.map(({ name }) => name),
    )
  }

  #writer(): FieldWriter {
    return fieldWriter(this.#world, this.session.origin)
  }
}

/** What is made of the first ones, up to one that is refused. */
async function uptoRefusal<T, U>(
  all: readonly T[],
  make: (one: T, at: number) => U,
): Promise<{ readonly made: readonly U[]; readonly refused: QuoinError | undefined }> {
  const made: U[] = []
  const pause = pauses()
  for (const [at, one] of all.entries()) {
    const paused = pause()
    if (paused) await paused
    try {
      made.push(make(one, at))
    } catch (error) {
      return { made, refused: refusalOf(error) }
    }
  }
  return { made, refused: undefined }
}
