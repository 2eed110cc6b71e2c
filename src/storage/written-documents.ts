/**
 * When each document of a storage was last written, as numbers that only grow: callers compare them to see whether a
 * document has changed. Documents that were not written lately share one number. It is raised when too many documents would
 * have to be remembered one by one: then all of those count as written.
 */

const MOST = 5_000

export class WrittenDocuments {
  readonly #next: () => number
  readonly #versions = new Map<string, number>()
  #others: number

  /** `next` gives a number that is larger than all before, also than those of a storage that had the name before. */
  constructor(next: () => number) {
    this.#next = next
    this.#others = next()
  }

  /** Another number after each commit that wrote the document. */
  version(guid: string): number {
    return this.#versions.get(guid) ?? this.#others
  }

  written(guids: readonly string[]): void {
    if (this.#versions.size + guids.length > MOST) {
      this.#versions.clear()
      this.#others = this.#next()
      return
    }
    const version = this.#next()
    for (const guid of guids) this.#versions.set(guid, version)
  }
}
