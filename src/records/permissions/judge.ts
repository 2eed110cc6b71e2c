/**
 * Verdicts of the rules of one write. Where rules lead to other documents, these are loaded before the write, for the document as it is
 * then: the write compares, and is judged once more when another client has changed the document meanwhile.
 */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn, textsIn, updateHashOf } from '../../storage/document-fields.ts'
import type { Lookup } from '../../storage/search/evaluate-query.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import type { StorageView, WriteName } from './storage-view.ts'

// The documents that rules lead to, loaded as the rules ask for them: one search for each storage and step, however many documents are judged.

/** Documents of one search. */
const MOST = 1_000

class ReferencedDocuments {
  readonly #session: Pick<Session, 'find'>
  /** By storage and guid; undefined where no present document has the guid. */
  readonly #known = new Map<string, Map<string, JsonObject | undefined>>()
  readonly #asked = new Map<string, Set<string>>()

  constructor(session: Pick<Session, 'find'>) {
    this.#session = session
  }

  readonly lookup: Lookup = (storage, guid) => {
    const known = this.#known.get(storage)
    if (known?.has(guid)) return known.get(guid)
    const asked = this.#asked.get(storage) ?? new Set()
    this.#asked.set(storage, asked.add(guid))
    return undefined
  }

  /**
   * What `decide` comes to when all that it looks up is known. Each turn loads documents that it has not seen, so there are at most as
   * many as the rules have steps.
   */
  decided<T>(decide: () => T): MaybePromise<T> {
    const verdict = decide()
    if (this.#asked.size === 0) return verdict
    const requested = [...this.#asked].flatMap(([storage, guids]) => inChunks(storage, [...guids].sort()))
    this.#asked.clear()
    const loaded = requested.reduce<MaybePromise<void>>(
      (before, { storage, guids }) => andThen(before, () => this.#load(storage, guids)),
      undefined,
    )
    return andThen(loaded, () => this.decided(decide))
  }

  #load(storage: string, guids: readonly string[]): MaybePromise<void> {
    const known = this.#known.get(storage) ?? new Map<string, JsonObject | undefined>()
    this.#known.set(storage, known)
    for (const guid of guids) known.set(guid, undefined)
    const query = { kind: 'terms', field: '_meta.guid', values: guids } as const
    return andThen(this.#session.find(storage, search({ query, limit: guids.length })), ({ documents }) => {
      for (const document of objectsIn(documents.value)) known.set(guidOf(document), document)
    })
  }
}

function inChunks(storage: string, guids: readonly string[]) {
  const chunks: { readonly storage: string; readonly guids: readonly string[] }[] = []
  for (let at = 0; at < guids.length; at += MOST) chunks.push({ storage, guids: guids.slice(at, at + MOST) })
  return chunks
}

export interface Judge {
  /** Whether it was judged as it was before another client has changed it: the write is to throw StaleVerdict. */
  isStale(document: StoredJson): boolean
  sees(document: StoredJson): boolean
  allows(name: WriteName, document: StoredJson): boolean
}

/** Of one write, when other clients change the document again and again. */
const MOST_TRIES = 3

/** The write left the document alone, which is to be judged once more. */
export class StaleVerdict extends Error {}

/** Two statements more for each write: one reads the document, one those that it refers to (one for each further storage and step). */
export function judged<T>(
  session: Session,
  view: StorageView,
  { guid, name }: { readonly guid: string; readonly name: WriteName },
  write: (judge: Judge) => MaybePromise<T>,
  tries = MOST_TRIES,
): MaybePromise<T> {
  if (!view.leads.any) return write({ ...view, isStale: never })
  return andThen(session.get(view.storage, guid, { removed: true }), (before) =>
    andThen(judgeOf(session, view, before, name), (judge) =>
      recover(
        () => write(judge),
        (error): MaybePromise<T> => {
          if (!(error instanceof StaleVerdict)) throw error
          if (tries > 1) return judged(session, view, { guid, name }, write, tries - 1)
          const message = `Another client changed the document ${guid}. Read it again, then change it.`
          throw new QuoinError('CONFLICT', message)
        },
      ),
    ),
  )
}

const never = () => false

function judgeOf(
  session: Session,
  view: StorageView,
  before: StoredJson | undefined,
  name: WriteName,
): MaybePromise<Judge> {
  const references = new ReferencedDocuments(session)
  const hash = before && updateHashOf(documentOf(before))
  const judge: Judge = {
    isStale: (document) => updateHashOf(documentOf(document)) !== hash,
    sees: (document) => view.sees(document, references.lookup),
    allows: (rule, document) => view.allows(rule, document, references.lookup),
  }
  if (before === undefined) return judge
  const decide = () => [view.sees(before, references.lookup), view.allows(name, before, references.lookup)]
  return andThen(references.decided(decide), () => judge)
}

/** Which of these documents, as the session has just written them, the rule allows. */
export function allowed(
  session: Session,
  view: StorageView,
  name: WriteName,
  documents: readonly StoredJson[],
): MaybePromise<readonly boolean[]> {
  if (!view.leads.any) return documents.map((document) => view.allows(name, document))
  const references = new ReferencedDocuments(session)
  return references.decided(() => documents.map((document) => view.allows(name, document, references.lookup)))
}

// On whose behalf documents are read and written, as rules see it.

/** Who holds it sets the rules, and is not bound by them: else a rule could lock out the people who mend it. */
export const RULES_SCOPE = 'storages_rules'

export interface Subject {
  /** Whether rules count. */
  readonly bound: boolean
  /** `user` in rules; undefined for an anonymous caller. */
  readonly user: JsonObject | undefined
}

const anonymous: Subject = { bound: true, user: undefined }

/** Of a user's record without secrets and the scopes that the user holds, through groups too. */
export function subjectOf(record: JsonObject | undefined, scopes: ReadonlySet<string> | undefined): Subject {
  if (record === undefined) return anonymous
  const held = scopes ?? new Set<string>()
  const user = {
    guid: guidOf(record),
    username: textIn(record.username),
    groups: [...textsIn(record.groups)],
    scopes: [...held],
  }
  return { bound: !held.has('*') && !held.has(RULES_SCOPE), user }
}
