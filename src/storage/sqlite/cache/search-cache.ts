/**
 * Results of searches, exact for one version of their storage. Only where each committed write raises the
 * storage's version before any session can see it.
 *
 * A caller that knows which documents were written carries results over to the next version (`follow`): a page stays unless
 * its search found one of them before or finds one now. Pages by relevance are dropped at every write: the weight of a
 * word depends on all documents.
 *
 * What it saves: an indexed list of 20 (9.4 KB) takes SQLite 40 µs, finding it here 1. What it costs: 1 µs for a search
 * that is not here, an evaluation of its query for each page and document that was written, and the memory below.
 *
 * Counts are kept elsewhere (`cached-counts.ts`): they are corrected by a write, not dropped.
 */

import type { JsonObject } from '../../../shared/json.ts'
import { lruCache } from '../../../shared/lru-cache.ts'
import type { Search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import { isFound } from '../../search/evaluate-query.ts'
import { isOfOneStorage } from '../../search/other-storages.ts'
import { isRelevanceOrder } from '../../search/rank-text.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { SearchTarget } from '../sql/sql-values.ts'

export interface TouchedDocument {
  /** undefined: was not there. */
  readonly before: JsonObject | undefined
  /** undefined: is not there. */
  readonly now: JsonObject | undefined
}

export interface SearchCache {
  /** The version of the storage's results; undefined if there are none. */
  version(storage: string): number | undefined
  /**
   * From now on the storage's results belong to this version, after these documents were written. Undefined: it is unknown
   * which ones.
   */
  follow(storage: string, version: number, touched: readonly TouchedDocument[] | undefined): void
  /** What was kept of the storage at this version, if anything was. */
  known(storage: string, version: number, key: string): Found | undefined
  /** What was kept of the storage at this version, or what `find` gives, which is then kept. */
  found(storage: string, version: number, requested: PageRequest, find: () => Found): Found
  /** How often `found` had a result, and how often not; and so for counts, by whom they are kept. */
  readonly uses: { hits: number; misses: number }
}

export interface PageRequest {
  readonly search: Search
  /** The search as JSON. */
  readonly key: string
}

/**
 * Of text, in all; one or two bytes each, and some more for results that were parsed. What makes room are all results of the
 * storage that was used longest ago.
 */
const CHARACTERS = 16 * 1024 * 1024
/** A page larger than this would push out hundreds of others. */
const LARGEST = 256 * 1024
/** What an entry, or a storage, takes beside its texts, in characters, roughly. */
const OVERHEAD = 200
/** Pages times documents. More, and all pages go. */
const MOST_JUDGED = 3_000

interface Page {
  readonly found: Found
  readonly search: Search
  /** In characters. */
  readonly size: number
}

interface Results {
  version: number
  readonly pages: Map<string, Page>
  characters: number
}

export function searchCache(most = CHARACTERS): SearchCache {
  const storages = lruCache<string, Results>(most)
  const uses = { hits: 0, misses: 0 }

  function resultsOf(name: string, version: number): Results {
    const known = storages.get(name)
    if (known?.version === version) return known
    const results: Results = { version, pages: new Map(), characters: OVERHEAD }
    storages.set(name, results, results.characters)
    return results
  }

  /** The storage's results, if they are of this version. */
  function at(name: string, version: number): Results | undefined {
    const results = storages.get(name)
    return results?.version === version ? results : undefined
  }

  return {
    uses,
    version: (storage) => storages.get(storage)?.version,
    follow(storage, version, touched) {
      const results = storages.get(storage)
      if (results === undefined) return
      if (touched === undefined || touched.length * results.pages.size > MOST_JUDGED) storages.delete(storage)
      else {
        carryOver(results, version, touched)
        storages.weigh(storage, results.characters)
      }
    },
    known: (storage, version, key) => at(storage, version)?.pages.get(key)?.found,
    found(storage, version, { search, key }, find) {
      const results = resultsOf(storage, version)
      const known = results.pages.get(key)
      if (known) {
        uses.hits += 1
        return known.found
      }
      uses.misses += 1
      const found = find()
      const size = found.documents.text.length + 2 * key.length + OVERHEAD
      // The caller that computed the result may have written meanwhile.
      if (size <= LARGEST && at(storage, version) === results && isOfOneStorage(key)) {
        results.pages.set(key, { found, search, size })
        results.characters += size
        storages.weigh(storage, results.characters)
      }
      return found
    },
  }
}

/** Drops the pages that the touched documents may have changed. */
function carryOver(results: Results, version: number, touched: readonly TouchedDocument[]): void {
  results.version = version
  for (const [key, { search, size }] of results.pages) {
    if (!mayChange(search, touched)) continue
    results.pages.delete(key)
    results.characters -= size
  }
}

/** Whether a page of this search may be another one now. */
function mayChange(search: Search, touched: readonly TouchedDocument[]): boolean {
  if (touched.length === 0) return false
  if (isRelevanceOrder(search)) return true
  const has = (document: JsonObject | undefined) =>
    document !== undefined && isFound(search.query, search.includeRemoved, document)
  return touched.some(({ before, now }) => has(before) || has(now))
}

// The documents of a storage that were written since the last check of the cache, each as it was then. Cached searches and
// counts are checked against them, so that a write drops only the results that it could have changed.
//
// Each writer of a document reports its content before the write. If the write is undone, the content is the same again:
// no difference.

/** With more documents it is faster to search and count again. */
const MOST = 200
/** Of their texts before and now, which are parsed in one turn of the event loop: a megabyte of short names takes 20 ms. */
const MOST_CHARACTERS = 1024 * 1024

export class TouchedDocuments {
  /** Of the storage, at the last check. */
  #version: number
  /** By row: the text that stood there. */
  readonly #before = new Map<number, string | undefined>()
  #characters = 0
  #reported: ((row: number) => void) | undefined

  constructor(version: number) {
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  /** Who else wants to know which rows are written; one, the last that asked. */
  alsoTell(reported: (row: number) => void): void {
    this.#reported = reported
  }

  get none(): boolean {
    return this.#before.size === 0
  }

  /** Before the first write since then, what the row held is what counted. */
  touch(row: number, before: string | undefined): void {
    this.#reported?.(row)
    if (this.#tooMany || this.#before.has(row)) return
    this.#before.set(row, before)
    this.#characters += before?.length ?? 0
  }

  /** As the connection sees them now; undefined if they are too many. */
  read(
    connection: SqliteConnection,
    { table }: Pick<SearchTarget, 'table'>,
  ): readonly TouchedDocument[] | undefined {
    if (this.#tooMany) return undefined
    if (this.none) return []
    const now = new Map<number, string>()
    let characters = this.#characters
    for (const row of connection.each(
      `SELECT id, doc FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...this.#before.keys()]),
    )) {
      const text = textOf(row, 'doc')
      characters += text.length
      if (characters > MOST_CHARACTERS) return undefined
      now.set(numberOf(row, 'id'), text)
    }
    return [...this.#before].flatMap(([row, before]) => {
      const after = now.get(row)
      return after === before ? [] : [{ before: parsed(before), now: parsed(after) }]
    })
  }

  /** From here on: as it is now, at this version. */
  forget(version: number): void {
    this.#version = version
    this.#before.clear()
    this.#characters = 0
  }

  get #tooMany(): boolean {
    return this.#before.size > MOST || this.#characters > MOST_CHARACTERS
  }
}

function parsed(text: string | undefined): JsonObject | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  // What the storage wrote itself.
  return typeof value === 'object' ? (value as JsonObject) : undefined
}
