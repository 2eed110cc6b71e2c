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
