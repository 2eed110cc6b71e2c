/** The documents that rules lead to, loaded as the rules ask for them: one search for each storage and step, however many documents are judged. */
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import type { Lookup } from '../../storage/search/evaluate-query.ts'

/** Documents of one search. */
const MOST = 1_000

export class LedDocuments {
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
    const wanted = [...this.#asked].flatMap(([storage, guids]) => inChunks(storage, [...guids].sort()))
    this.#asked.clear()
    const loaded = wanted.reduce<MaybePromise<void>>(
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
