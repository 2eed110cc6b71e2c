/**
 * Texts of documents as this node has last written them. Each is a guess at what PostgreSQL holds now, since another node may
 * have written: an update that begins from it says so to PostgreSQL, which then writes nothing where the guess is wrong
 * (`guess-update.ts`). A right one saves the trip that reads the document; a wrong one costs a trip and a second run.
 *
 * So a storage is guessed at only while the guesses are mostly right: a wrong one counts as much as eight right ones, and
 * updates that read their document first show what a guess would have been. Where many nodes change the same documents, all
 * of them soon read first, as they would without this.
 */
import { boundedMap } from '../../../shared/bounded-map.ts'

/** Characters of all texts together, with what an entry takes besides: some 10,000 documents of 500 characters. */
const MOST = 8 * 1024 * 1024
const ENTRY = 300
/** Of longer ones the comparison costs more than a trip. */
const LONGEST = 16 * 1024
const STORAGES = 1_000
const TRUST = 16
const WRONG = 8

export class KnownDocuments {
  readonly #texts = boundedMap<string, string>(MOST)
  /** By table. Above 0, guesses are made. */
  readonly #trust = boundedMap<string, number>(STORAGES)

  wrote(table: string, guid: string, text: string): void {
    if (text.length > LONGEST) return
    this.#texts.set(keyOf(table, guid), text, text.length + ENTRY)
  }

  /** Each is given once: what is being written by one session is not guessed at by another. */
  guess(table: string, guid: string): string | undefined {
    if ((this.#trust.get(table) ?? 0) <= 0) return undefined
    const key = keyOf(table, guid)
    const text = this.#texts.get(key)
    if (text !== undefined) this.#texts.delete(key)
    return text
  }

  wrong(table: string): void {
    this.#trust.set(table, Math.max(-TRUST, (this.#trust.get(table) ?? 0) - WRONG))
  }

  /** What an update that did not guess has read. */
  read(table: string, guid: string, text: string): void {
    const key = keyOf(table, guid)
    const known = this.#texts.get(key)
    if (known === undefined) return
    this.#texts.delete(key)
    if (known !== text) this.wrong(table)
    else this.#trust.set(table, Math.min(TRUST, (this.#trust.get(table) ?? 0) + 1))
  }
}

function keyOf(table: string, guid: string): string {
  return `${table} ${guid}`
}
