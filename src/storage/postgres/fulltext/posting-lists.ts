/**
 * The documents of a storage and where their words stand, in memory of a node: of one moment of the database, as its caller tells. A
 * million documents take 40 MB, and six bytes more for each document of each word that is kept.
 */

import type { Steps } from '../../../shared/cooperative.ts'
import { lruCache } from '../../../shared/lru-cache.ts'
import {
  ABSENT,
  append,
  DocumentLengths,
  type GrowingPostings,
  indexIn,
  type Postings,
  wordOf,
} from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { GuidIndex } from './guid-index.ts'

// The words of a document with their places, as PostgreSQL writes a `tsvector`: `'apple':3 'red':1,2 'late'`.

/** By word. Without places: it stands only where PostgreSQL counts none any more. */
type PlacedWords = ReadonlyMap<string, readonly number[]>

const WORD = /'([^']*)'(?::([\d,]+))?/g

/** Of words that hold letters and digits only. */
export function placedWords(vector: string): PlacedWords {
  const words = new Map<string, readonly number[]>()
  for (const [, word = '', places] of vector.matchAll(WORD))
    words.set(word, places === undefined ? [] : places.split(',').map(Number))
  return words
}

/** How often `ts_rank_cd` counts the phrase; -1 if the document does not match it. */
function countIn(words: PlacedWords, { tokens, prefix }: RankedPhrase): number {
  const last = tokens.length - 1
  const lists = tokens.map((token, at) => (prefix && at === last ? begun(words, token) : words.get(token)))
  const [first, ...others] = lists
  if (first === undefined) return -1
  if (others.length === 0) return first.length
  const places = others.map((list) => new Set(list))
  let count = 0
  for (const start of first) if (places.every((list, at) => list.has(start + at + 1))) count += 1
  return count > 0 ? count : -1
}

/** undefined if no word begins so. */
function begun(words: PlacedWords, start: string): readonly number[] | undefined {
  const found = [...words].filter(([word]) => word.startsWith(start))
  return found.length === 0 ? undefined : found.flatMap(([, places]) => places)
}

/** A document as its storage has it. */
export interface TextedDocument {
  readonly guid: string
  readonly created: number
  readonly isRemoved: boolean
  /** Tokens; undefined if it has none of an index. */
  readonly length: number | undefined
}

/** What is there now of a document that was written; undefined: nothing is. */
export interface WrittenText {
  readonly guid: string
  readonly now: (TextedDocument & { readonly words: PlacedWords }) | undefined
}

/** Six bytes each, so 48 MB: 800 words that 10,000 documents have, and words in more are not kept. */
const MOST_POSTINGS = 8_000_000
/** Also those that stand nowhere: each is looked for in every document that was written. */
const MOST_WORDS = 2_000
const LEAST = 1_024

export class PostingLists {
  readonly #guids = new GuidIndex()
  readonly #lengths = new DocumentLengths()
  #created = new Float64Array(LEAST)
  #removed = new Uint8Array(LEAST)
  readonly #words = lruCache<string, GrowingPostings>(MOST_POSTINGS, { entries: MOST_WORDS })
  /** By word that is being read: the rows that were written meanwhile. */
  readonly #expected = new Map<string, Set<number>>()
  /** Rows that may stand wrongly in a word that was read: they are to be told of once more. */
  readonly #doubtful = new Set<number>()

  /** In the index, removed ones included. */
  get documents(): number {
    return this.#lengths.documents
  }

  /** Tokens a document has on average. */
  get average(): number {
    return this.#lengths.average
  }

  get isDoubtful(): boolean {
    return this.#doubtful.size > 0
  }

  /** Documents that the next {@link apply} must be told of, written or not, with the tokens that they had. */
  get doubtful(): readonly (readonly [guid: string, tokens: number])[] {
    return [...this.#doubtful].map((row) => [this.#guids.guidOf(row), Math.max(0, this.#lengths.of(row))])
  }

  isRemoved(row: number): boolean {
    return this.#removed[row] === 1
  }

  guidOf(row: number): string {
    return this.#guids.guidOf(row)
  }

  lengths(rows: Int32Array): Int32Array {
    return this.#lengths.ofAll(rows)
  }

  /** Newest first: negative if the first one is the newer. */
  byAge(a: number, b: number): number {
    return (this.#created[b] ?? 0) - (this.#created[a] ?? 0) || this.#guids.compare(b, a)
  }

  /** Notes documents without their words. False if one has a guid of another kind than Quoin makes. */
  note(documents: Iterable<TextedDocument>): boolean {
    for (const document of documents) if (this.#note(document) < 0) return false
    return true
  }

  /** The postings of a phrase; undefined if they are not kept. Counts as a use. */
  of(phrase: RankedPhrase): Postings | undefined {
    return this.#words.get(wordOf(phrase))
  }

  has(phrase: RankedPhrase): boolean {
    const word = wordOf(phrase)
    return this.#words.has(word) || this.#expected.has(word)
  }

  /** To be called before a phrase is read. What is written from now on is told of once more when it is there. */
  expect(phrase: RankedPhrase): CountedRows {
    const word = wordOf(phrase)
    this.#expected.set(word, new Set())
    return new CountedRows(
      (guid) => this.#guids.rowOf(guid),
      (postings) => this.#keep(phrase, postings),
      () => this.#expected.delete(word),
    )
  }

  /**
   * Brings in what was written. Gives one step after the other, so that the event loop can turn between them; nothing may be asked
   * until the last one. False at the end if a guid is of another kind.
   */
  *apply(written: readonly WrittenText[]): Steps<boolean> {
    const rows: number[] = []
    const words = new Map<number, PlacedWords>()
    for (const { guid, now } of written) {
      const row = now ? this.#note(now) : this.#guids.rowOf(guid)
      if (row < 0 && now) return false
      if (row < 0) continue
      if (now === undefined) this.#lengths.set(row, ABSENT)
      else if (now.length !== undefined) words.set(row, now.words)
      rows.push(row)
      this.#doubtful.delete(row)
    }
    for (const expected of this.#expected.values()) for (const row of rows) expected.add(row)
    rows.sort((a, b) => a - b)
    // A word that comes between two steps knows all of this, or has its rows among the doubtful ones.
    for (const [word, postings] of [...this.#words.entries()]) {
      const counts = rows.map((row) => countOf(words.get(row), postings.phrase))
      place(postings, rows, counts)
      this.#words.weigh(word, postings.rows.length)
      yield undefined
    }
    return true
  }

  #note({ guid, created, isRemoved, length }: TextedDocument): number {
    const row = this.#guids.add(guid)
    if (row < 0) return row
    if (row >= this.#created.length) this.#grow()
    this.#created[row] = created
    this.#removed[row] = isRemoved ? 1 : 0
    this.#lengths.set(row, length ?? ABSENT)
    return row
  }

  #grow(): void {
    const size = Math.ceil(this.#created.length * 1.5)
    const created = new Float64Array(size)
    const removed = new Uint8Array(size)
    created.set(this.#created)
    removed.set(this.#removed)
    this.#created = created
    this.#removed = removed
  }

  #keep(phrase: RankedPhrase, postings: Postings): void {
    const word = wordOf(phrase)
    for (const row of this.#expected.get(word) ?? []) this.#doubtful.add(row)
    this.#expected.delete(word)
    this.#words.set(word, { phrase, ...postings }, postings.rows.length)
  }
}

/** A phrase while it is read: counts come in any order of documents. */
export class CountedRows {
  readonly #rowOf: (guid: string) => number
  readonly #keep: (postings: Postings) => void
  readonly #giveUp: () => void
  /** One more than counted; 0: not there. */
  #counts = new Uint16Array(LEAST)
  #documents = 0

  constructor(rowOf: (guid: string) => number, keep: (postings: Postings) => void, giveUp: () => void) {
    this.#rowOf = rowOf
    this.#keep = keep
    this.#giveUp = giveUp
  }

  /** A document that is not known yet was written meanwhile, and will be told of. */
  add(guid: string, count: number): void {
    const row = this.#rowOf(guid)
    if (row < 0) return
    if (row >= this.#counts.length) {
      const longer = new Uint16Array(Math.ceil((row + 1) * 1.5))
      longer.set(this.#counts)
      this.#counts = longer
    }
    if (this.#counts[row] === 0) this.#documents += 1
    this.#counts[row] = count + 1
  }

  keep(): void {
    const rows = new Int32Array(this.#documents)
    const counts = new Uint16Array(this.#documents)
    for (let row = 0, at = 0; at < rows.length; row++) {
      const count = this.#counts[row] ?? 0
      if (count === 0) continue
      rows[at] = row
      counts[at++] = count - 1
    }
    this.#keep({ rows, counts })
  }

  /** It could not be read. */
  giveUp(): void {
    this.#giveUp()
  }
}

function countOf(words: PlacedWords | undefined, phrase: RankedPhrase): number {
  return words ? countIn(words, phrase) : ABSENT
}

/** Puts rows, in ascending order, into postings, with their counts; {@link ABSENT}: out of them. */
function place(
  postings: GrowingPostings,
  touched: readonly number[],
  touchedCounts: readonly number[],
): void {
  const { rows, counts } = postings
  const last = rows.at(-1) ?? ABSENT
  const fresh: (readonly [number, number])[] = []
  let isMoved = false
  for (const [index, row] of touched.entries()) {
    const count = touchedCounts[index] ?? ABSENT
    const at = indexIn(rows, row)
    if (at >= 0 && count !== ABSENT) counts[at] = count
    else if (at < 0 && count !== ABSENT) fresh.push([row, count])
    if (at >= 0 ? count === ABSENT : count !== ABSENT && row < last) isMoved = true
  }
  if (!isMoved) {
    if (fresh.length > 0) append(postings, fresh)
    return
  }
  const gone = new Set(touched.filter((_, index) => touchedCounts[index] === ABSENT))
  const newRows = new Int32Array(rows.length + fresh.length)
  const newCounts = new Uint16Array(newRows.length)
  let to = 0
  let next = 0
  const put = (row: number, count: number) => {
    newRows[to] = row
    newCounts[to++] = count
  }
  for (let at = 0; at <= rows.length; at++) {
    const row = rows[at] ?? Number.POSITIVE_INFINITY
    for (; next < fresh.length && (fresh[next]?.[0] ?? 0) < row; next++)
      put(fresh[next]?.[0] ?? 0, fresh[next]?.[1] ?? 0)
    if (at < rows.length && !gone.has(row)) put(row, counts[at] ?? 0)
  }
  postings.rows = newRows.slice(0, to)
  postings.counts = newCounts.slice(0, to)
}
