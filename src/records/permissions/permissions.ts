/**
 * The one place where documents are opened on behalf of a user: documents API, pages, and blocks with "as: user" get their sessions here.
 *
 * The rules are in memory with the fields of storages (`fields/field-rules.ts`), so no request reads them; a change of a rule is
 * acknowledged when every node has applied it.
 */

import type { Clock } from '../../shared/clock.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { elementsOf } from '../../shared/expression-work.ts'
import type { JsonObject } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import {
  keepsRules,
  opensFor,
  type PermittedDatabase,
  type ValidatedDatabase,
} from '../../storage/validated.ts'
import { wrappedDatabase } from '../../storage/wrapped-session.ts'
import type { FieldRules, StorageRules } from '../fields/field-rules.ts'
import { compiledRules } from './compiled-rules.ts'
import { allowed, type Subject } from './judge.ts'
import { PermittedSession, type Views } from './permitted-session.ts'
import { type Evaluation, type StorageView, storageView, type WriteName } from './storage-view.ts'

export interface Permissions {
  /** Whether no storage or field has such a rule, as far as is known without reading: never true when one has. */
  none(): boolean
  /** Whether a storage has such a rule. */
  counts(storage: string): MaybePromise<boolean>
  /** The storages whose documents decide too which documents of this one a user sees. */
  leadsTo(storage: string): MaybePromise<readonly string[]>
  /** The session on behalf of a user; the same one where no rule counts for the user. */
  session(session: Session, subject: Subject): Session
  database(database: ValidatedDatabase, subject: Subject): PermittedDatabase
  /** Names of fields that the user does not see. */
  hidden(storage: string, subject: Subject): MaybePromise<readonly string[]>
  /** Names of fields that the user may not set. */
  unsettable(storage: string, subject: Subject): MaybePromise<readonly string[]>
  /** Whether the rule refuses the user each document of the storage, whatever is in it. */
  refusesAll(storage: string, rule: WriteName, subject: Subject): MaybePromise<boolean>
  /** Of these documents, those that the rule refuses to the user as they are stored. One search for each hundred. */
  refused(
    session: Session,
    subject: Subject,
    requested: { readonly storage: string; readonly rule: WriteName; readonly guids: readonly string[] },
  ): Promise<ReadonlySet<string>>
}

export interface PermissionParts {
  readonly rules: Pick<FieldRules, 'storageRules' | 'noPermissions'>
  readonly clock: Clock
  /** Hears of a rule that could not be evaluated, in a sentence. */
  readonly warn: (message: string) => void
}

/** Elements of lists that one evaluation of a rule looks at. */
const MOST_ELEMENTS = 20_000
/** Documents that are read and judged in one turn. */
const AT_ONCE = 100
/** Of storages and rules that have been told of since the rules were read. */
const MAX_REPORTED = 1_000

export function openPermissions({ rules, clock, warn }: PermissionParts): Permissions {
  const reported = lruCache<string, true>(MAX_REPORTED)

  function failed(storage: string, rule: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The rule ${rule} of the storage ${storage} cannot be evaluated, and allows nothing: ${reason}`
    // Each request would write it again.
    if (reported.get(message)) return
    reported.set(message, true)
    warn(message)
  }

  const viewsFor = (user: JsonObject | undefined) => viewsOf(user, { rules, clock }, failed)

  const session = (plain: Session, { bound, user }: Subject): Session =>
    bound && !rules.noPermissions() ? new PermittedSession(plain, viewsFor(user)) : plain

  const viewOf = (storage: string, { bound, user }: Subject) =>
    bound && !rules.noPermissions() ? viewsFor(user).of(storage) : undefined

  function fieldsOf(storage: string, subject: Subject, which: 'hidden' | 'unsettable') {
    return andThen(viewOf(storage, subject), (view) => view?.[which] ?? [])
  }

  return {
    none: rules.noPermissions,
    counts: (storage) =>
      andThen(
        rules.storageRules(storage),
        (storageRules) => compiledRules(storage, storageRules) !== undefined,
      ),
    leadsTo: (storage) =>
      rules.noPermissions() || isOwnStorage(storage)
        ? []
        : andThen(
            rules.storageRules(storage),
            (storageRules) => compiledRules(storage, storageRules)?.sees ?? [],
          ),
    session,
    database(database, subject) {
      if (!subject.bound) return { ...database, [opensFor]: 'user' }
      const permitted = wrappedDatabase(database, {
        session: (origin) => session(database.session(origin), subject),
      })
      return { ...permitted, [keepsRules]: true, [opensFor]: 'user' }
    },
    hidden: (storage, subject) => fieldsOf(storage, subject, 'hidden'),
    unsettable: (storage, subject) => fieldsOf(storage, subject, 'unsettable'),
    refusesAll: (storage, rule, subject) =>
      andThen(viewOf(storage, subject), (view) => view !== undefined && !view.mayAllow(rule)),
    refused: async (plain, subject, requested) =>
      refusedOf(plain, await viewOf(requested.storage, subject), requested),
  }
}

/** What a user sees of each storage, compiled once as long as its rules are the same. */
function viewsOf(
  user: JsonObject | undefined,
  { rules, clock }: Pick<PermissionParts, 'rules' | 'clock'>,
  failed: Evaluation['failed'],
): Views {
  const known = new Map<
    string,
    { readonly storageRules: StorageRules; readonly view: StorageView | undefined }
  >()
  const evaluation: Evaluation = { user, context: contextsOf(clock), failed }
  return {
    of(storage) {
      if (isOwnStorage(storage)) return undefined
      return andThen(rules.storageRules(storage), (storageRules) => {
        const last = known.get(storage)
        if (last?.storageRules === storageRules) return last.view
        const compiled = compiledRules(storage, storageRules)
        const view = compiled && storageView(storage, compiled, evaluation)
        known.set(storage, { storageRules, view })
        return view
      })
    },
    keyFields: (storage, by) =>
      andThen(rules.storageRules(storage), (storageRules) =>
        storageRules.rules.flatMap(({ name, unique }) =>
          by.includes(name) || (unique && by.includes(unique.key)) ? [name] : [],
        ),
      ),
  }
}

/** Those of the documents that the rule refuses, read a hundred at a time. */
async function refusedOf(
  plain: Session,
  view: StorageView | undefined,
  { storage, rule, guids }: Parameters<Permissions['refused']>[2],
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>()
  if (view === undefined) return refused
  for (let at = 0; at < guids.length; at += AT_ONCE) {
    if (at > 0) await yieldToEventLoop()
    const some = guids.slice(at, at + AT_ONCE)
    const query = { kind: 'terms', field: '_meta.guid', values: some } as const
    const { documents } = await plain.find(storage, search({ query, limit: some.length }))
    const stored = objectsIn(documents.value)
    const texts = stored.map((document) => new StoredJson(JSON.stringify(document)))
    const verdicts = await allowed(plain, view, rule, texts)
    for (const [place, document] of stored.entries())
      if (verdicts[place] === false) refused.add(guidOf(document))
  }
  return refused
}

/** A context for each evaluation; the clock shows the same instant in all of a session. */
function contextsOf(clock: Clock): Evaluation['context'] {
  let instant: number | undefined
  const now = () => {
    instant ??= clock()
    return instant
  }
  return () => {
    let left = MOST_ELEMENTS
    return {
      timeZone: 'UTC',
      locale: 'en',
      now,
      random() {
        throw new TypeError('A rule has no random values.')
      },
      spend(elements, work) {
        left -= elementsOf(elements, work)
        if (left < 0)
          throw new RangeError(
            `it looks at more than ${MOST_ELEMENTS.toLocaleString('en')} elements of lists`,
          )
      },
    }
  }
}
