/**
 * A session whose writes are seen by itself and by nobody else, ever: its commits do nothing, and whoever made it rolls it
 * back at the end. Jobs, events and history stand in the same transaction and are undone with it.
 *
 * While it is open it holds what every session with writes holds (`storage.ts`): on SQLite the one writer.
 */
import type { Mutation } from '../../shared/mutation.ts'
import type { Query, Search } from '../../shared/query.ts'
import type { NewJob } from '../../storage/job.ts'
import type { CreateOptions, Origin, Session } from '../../storage/storage.ts'

export class DiscardingSession implements Session {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  get origin(): Origin {
    return this.#session.origin
  }

  get hasWritten(): boolean {
    return this.#session.hasWritten
  }

  get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.#session.get(storage, guid, options)
  }

  find(storage: string, search: Search) {
    return this.#session.find(storage, search)
  }

  count(storage: string, query: Query, includeRemoved?: boolean) {
    return this.#session.count(storage, query, includeRemoved)
  }

  create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    return this.#session.create(storage, mutations, options)
  }

  update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: { readonly updateHash?: string },
  ) {
    return this.#session.update(storage, guid, mutations, options)
  }

  remove(storage: string, guid: string) {
    return this.#session.remove(storage, guid)
  }

  restore(storage: string, guid: string) {
    return this.#session.restore(storage, guid)
  }

  delete(storage: string, guid: string) {
    return this.#session.delete(storage, guid)
  }

  enqueue(job: NewJob) {
    return this.#session.enqueue(job)
  }

  commit(): undefined {
    return undefined
  }

  rollback() {
    return this.#session.rollback()
  }
}
