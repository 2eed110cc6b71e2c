/** In which documents a word or a phrase stands, in arrays: what ranking in memory walks over. */
import type { RankedPhrase } from '../search/rank-text.ts'

/** Rows in ascending order, and how often the word is in each. */
export interface Postings {
  readonly rows: Int32Array
  readonly counts: Uint16Array
}

/** Those that are kept, and follow what is written. */
export interface GrowingPostings {
  readonly phrase: RankedPhrase
  rows: Int32Array
  counts: Uint16Array
}

/** There is room behind the lists for some more, so that what is new does not copy what is there. */
export function append(postings: GrowingPostings, fresh: readonly (readonly [number, number])[]): void {
  const { rows, counts } = postings
  const size = rows.length + fresh.length
  if (size > rows.buffer.byteLength / rows.BYTES_PER_ELEMENT) {
    const room = Math.ceil(size * 1.25)
    postings.rows = new Int32Array(room)
    postings.counts = new Uint16Array(room)
    postings.rows.set(rows)
    postings.counts.set(counts)
  }
  // Both begin at the beginning of their buffers.
  postings.rows = new Int32Array(postings.rows.buffer, 0, size)
  postings.counts = new Uint16Array(postings.counts.buffer, 0, size)
  for (const [index, [row, count]] of fresh.entries()) {
    postings.rows[rows.length + index] = row
    postings.counts[rows.length + index] = count
  }
}

/** No token holds a space or a star. */
export function wordOf({ tokens, prefix }: RankedPhrase): string {
  const words = tokens.join(' ')
  return prefix ? `${words}*` : words
}

/** Where a number stands in an ascending list; negative if it does not. */
export function indexIn(rows: Int32Array, row: number): number {
  let low = 0
  let high = rows.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const there = rows[middle] ?? 0
    if (there === row) return middle
    if (there < row) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** Without those that `isThere` denies. */
export function filteredPostings({ rows, counts }: Postings, isThere: (row: number) => boolean): Postings {
  const filtered = new Int32Array(rows.length)
  const cachedCounts = new Uint16Array(rows.length)
  let size = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0
    if (!isThere(row)) continue
    filtered[size] = row
    cachedCounts[size++] = counts[at] ?? 0
  }
  return { rows: filtered.subarray(0, size), counts: cachedCounts.subarray(0, size) }
}

/** How many tokens each document of a free-text index has, by its row, and all together. */
const LEAST = 1_024
export const ABSENT = -1

export class DocumentLengths {
  #lengths = new Int32Array(0)
  #documents = 0
  #tokens = 0

  get documents(): number {
    return this.#documents
  }

  /** Tokens a document has on average. */
  get average(): number {
    return this.#tokens / this.#documents
  }

  /** {@link ABSENT} for a row that is not in the index. */
  of(row: number): number {
    return this.#lengths[row] ?? ABSENT
  }

  ofAll(rows: Int32Array): Int32Array {
    const lengths = new Int32Array(rows.length)
    for (let at = 0; at < rows.length; at++) lengths[at] = this.of(rows[at] ?? 0)
    return lengths
  }

  set(row: number, length: number): void {
    if (row >= this.#lengths.length) {
      const room = Math.max(row + 1, Math.ceil(this.#lengths.length * 1.5), LEAST)
      const longer = new Int32Array(room).fill(ABSENT)
      longer.set(this.#lengths)
      this.#lengths = longer
    }
    const before = this.of(row)
    if (before !== ABSENT) {
      this.#documents -= 1
      this.#tokens -= before
    }
    this.#lengths[row] = length
    if (length === ABSENT) return
    this.#documents += 1
    this.#tokens += length
  }
}

// The words of a free-text index while one search looks at them.

export interface ReadWords {
  /** In the index, removed ones included. */
  readonly documents: number
  /** Tokens a document has on average. */
  readonly average: number
  /** Of one word, of all that begin so, or of words side by side. Throws EffortSpent. */
  of(phrase: RankedPhrase): Postings
  /** The words that may be this one, misspelled. Throws EffortSpent. */
  similarTo(token: string, distance: number): ReadonlySet<string>
  /** Says that these words are wanted together: what one search misses of them is read for those that come. */
  miss(tokens: Iterable<string>): void
  /** How many tokens each of these documents has. */
  lengths(rows: Int32Array): Int32Array
  /** Counts what the search does. Throws EffortSpent. */
  spend(units: number): void
}
