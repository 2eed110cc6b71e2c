/**
 * How much one search may look at. Counted and not timed, so that the same search over the same documents is always answered
 * or always refused, however busy the machine is.
 *
 * One unit is one word compared, some 30 to 60 ns. A document is read for 4 units a word and one for 8 characters.
 */
import { QuoinError } from '../../shared/errors.ts'

/** In one turn of the event loop: some 10 ms. A search that needs more goes to a thread of its own. */
export const EFFORT_OF_A_TURN = 150_000
/** In one turn, where no thread can see what is searched: in a transaction that has written to the storage. Some 30 ms. */
export const EFFORT_OF_A_WRITER = 600_000
/** In a thread, while others wait for a transaction to end: under a second. */
export const EFFORT_OF_A_HOLDER = 10_000_000
/** In a thread: 2 to 4 s. */
export const EFFORT_OF_A_SEARCH = 100_000_000
/** On PostgreSQL, for documents whose texts this process reads and compares: 65,000 of 30 words. Under a second of two idle cores. */
export const EFFORT_ON_POSTGRES = 10_000_000

/** Of reading a document: for each of its words, beside {@link unitsOfText}. */
export const READ_TOKEN = 4

export function unitsOfText(text: string): number {
  return text.length / 8
}

/** A search needs more than it may use. */
export class EffortSpent extends Error {
  constructor() {
    super('The search looks at more than it may.')
    this.name = 'EffortSpent'
  }
}

export class SearchEffort {
  #left: number

  constructor(units: number) {
    this.#left = units
  }

  get left(): number {
    return this.#left
  }

  /** For what cannot be stopped half-way: nothing is left when it was too much. */
  use(units: number): void {
    this.#left = Math.max(0, this.#left - units)
  }

  /** Throws EffortSpent. */
  spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new EffortSpent()
  }
}

/** What a client is told of a search that needs too much wherever it runs. */
export function tooMuchToCompare(): QuoinError {
  return new QuoinError(
    'SEARCH_TOO_COSTLY',
    'This search would compare too many words. Search for fewer words, with fewer spelling mistakes, gaps or beginnings of words, or create an index of free text for the storage.',
  )
}

/** As {@link tooMuchToCompare}, for misspelled words over an index of free text. */
export function tooMuchMisspelled(): QuoinError {
  const most = EFFORT_ON_POSTGRES / READ_TOKEN / 1_000_000
  return new QuoinError(
    'SEARCH_TOO_COSTLY',
    `The misspelled words (word~) of this search would be compared with more than ${most} million words. Add a word that is spelled right or a filter that fewer documents match, or leave out the ~.`,
  )
}

/** As {@link tooMuchToCompare}, for words and phrases in very many documents. */
export function tooManyToRank(most: number): QuoinError {
  return new QuoinError(
    'SEARCH_TOO_COSTLY',
    `The words of this search are in more than ${most.toLocaleString('en')} documents, and few of the newest ones match. Add a word that fewer documents have, or a filter.`,
  )
}

export function tooMuchToAggregate(): QuoinError {
  return new QuoinError(
    'SEARCH_TOO_COSTLY',
    'This aggregate would read too many documents. Narrow its condition, or create an index of the fields that it asks for.',
  )
}

/** As {@link tooMuchToCompare}, where the transaction is the reason. */
export function tooMuchForTransaction(storage: string): QuoinError {
  return new QuoinError(
    'SEARCH_TOO_COSTLY',
    `This search would compare too many words for a run that has written to ${storage} and not committed. Search before the first write, or create an index of free text for the storage.`,
  )
}
