/**
 * How large the database may become while the disk is full, when its ballast was given away (ballast.ts). From the next
 * transaction on it may not grow until there is room: what changes documents in the pages that are there goes on. Deletes,
 * with their records in the history and the audit log, and sign-ins may take some of what was given away.
 */
import type { Ballast } from './ballast.ts'
import { numberOf, type SqliteConnection } from './sqlite-connection.ts'
import { isFull } from './sqlite-errors.ts'

/** SQLite's own, 16 TiB. */
const MAX_PAGES = 4_294_967_294

export class GrowthLimit {
  readonly #connection: SqliteConnection
  readonly #ballast: Ballast | undefined
  /** While the disk is full: the pages beyond which the database may not grow, and may with the reserve. */
  #bounds: { readonly pages: number; readonly reserve: number } | undefined
  #allowed = MAX_PAGES

  constructor(connection: SqliteConnection, ballast: Ballast | undefined) {
    this.#connection = connection
    this.#ballast = ballast
  }

  /** Between two transactions, because within one the database has grown already. */
  follow(): void {
    const full = this.#ballast?.full ?? false
    if (full === (this.#bounds !== undefined)) return
    this.#bounds = full ? this.#boundsNow() : undefined
    this.#allow(this.#bounds?.pages ?? MAX_PAGES)
  }

  /** Before an operation: whether it may take from the reserve. */
  applyTo(mayTakeReserve: boolean): void {
    if (this.#bounds) this.#allow(mayTakeReserve ? this.#bounds.reserve : this.#bounds.pages)
  }

  /** An error of SQLite: of a full disk the ballast hears. */
  note(error: unknown): void {
    if (this.#ballast && !this.#ballast.full && isFull(error)) this.#ballast.giveAway()
  }

  #boundsNow(): { pages: number; reserve: number } {
    const pages = numberOf(this.#connection.get('PRAGMA page_count') ?? {}, 'page_count')
    const size = numberOf(this.#connection.get('PRAGMA page_size') ?? {}, 'page_size')
    return { pages, reserve: pages + Math.floor((this.#ballast?.spare ?? 0) / size) }
  }

  /** SQLite takes what is there for the bound where it is more. */
  #allow(pages: number): void {
    if (pages === this.#allowed) return
    this.#connection.exec(`PRAGMA max_page_count = ${pages}`)
    this.#allowed = pages
  }
}
