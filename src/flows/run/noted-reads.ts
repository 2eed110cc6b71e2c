import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Search } from '../../shared/query.ts'
import type { Database, Found, FoundWithTotal, Read, Session } from '../../storage/database.ts'
import { totalKnownFrom } from '../../storage/find-with-total.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'

type Stamping = Pick<Database, 'stamp'>

interface Noted {
  readonly storage: string
  readonly read: Read | undefined
  readonly stamp: unknown
}

/** What a run has read, each with its stamp: whether a second run would read the same. */
export class NotedReads {
  readonly #storage: Stamping
  readonly #noted: Noted[] = []
  #isComplete = true

  constructor(storage: Stamping) {
    this.#storage = storage
  }

  /** False as soon as something was read of which nobody can know. */
  get areUnchanged(): boolean {
    if (!this.#isComplete) return false
    for (const { storage, read, stamp } of this.#noted)
      if (this.#storage.stamp(storage, read) !== stamp) return false
    return true
  }

  /** A session that notes what is read through it. */
  session(session: Session): Session {
    return new NotingSession(session, this)
  }

  /** Reads, and notes it under the stamp that it had before and after. */
  during<T>(storage: string, read: Read | undefined, look: () => T): T {
    const stamp = this.#storage.stamp(storage, read)
    const result = look()
    const isExact = !isPromise(result) && stamp !== undefined && this.#storage.stamp(storage, read) === stamp
    if (isExact) this.#noted.push({ storage, read, stamp })
    else this.#isComplete = false
    return result
  }

  /** The same for a page, whose stamp is there only once it is kept: then it is the page. */
  duringSearch(storage: string, search: Search, look: () => MaybePromise<Found>): MaybePromise<Found> {
    return this.#ofPage(storage, search, look, (found) => found)
  }

  /** A last page tells the total by itself; any other total is of all documents. */
  duringFindWithTotal(
    storage: string,
    search: Search,
    look: () => MaybePromise<FoundWithTotal>,
  ): MaybePromise<FoundWithTotal> {
    return this.#ofPage(storage, search, look, ({ found }) =>
      totalKnownFrom(found, search) === undefined ? undefined : found,
    )
  }

  /** `page`: undefined where the result depends on more than the page. */
  #ofPage<T>(
    storage: string,
    search: Search,
    look: () => MaybePromise<T>,
    page: (result: T) => Found | undefined,
  ): MaybePromise<T> {
    const before = this.#storage.stamp(storage)
    const result = look()
    const read = { page: JSON.stringify(search) }
    if (isPromise(result) || before === undefined || this.#storage.stamp(storage) !== before) {
      this.#isComplete = false
      return result
    }
    const found = page(result)
    if (found !== undefined && this.#storage.stamp(storage, read) === found)
      this.#noted.push({ storage, read, stamp: found })
    else this.#noted.push({ storage, read: undefined, stamp: before })
    return result
  }
}

class NotingSession extends TransparentSession {
  readonly #reads: NotedReads

  constructor(session: Session, reads: NotedReads) {
    super(session)
    this.#reads = reads
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.#reads.during(storage, { guid }, () => super.get(storage, guid, options))
  }

  override find(storage: string, search: Search) {
    return this.#reads.duringSearch(storage, search, () => super.find(storage, search))
  }

  override findWithTotal(storage: string, search: Search) {
    return this.#reads.duringFindWithTotal(storage, search, () => super.findWithTotal(storage, search))
  }

  override count(...wanted: Parameters<Session['count']>) {
    return this.#reads.during(wanted[0], undefined, () => super.count(...wanted))
  }
}
