/**
 * A simulated node's way to the database: each call takes a while there and back, and while the wire is cut, calls and
 * replies get lost. What is lost on the way there was not done; what is lost on the way back was, and the node cannot know.
 */
import { QuoinError } from '../../../src/shared/errors.ts'
import type { MaybePromise } from '../../../src/shared/maybe-promise.ts'
import type { Mutation } from '../../../src/shared/mutation.ts'
import type { Query, Search } from '../../../src/shared/query.ts'
import type { Capabilities } from '../../../src/storage/capabilities.ts'
import type { CreateOptions, Database, NewDocument, Session } from '../../../src/storage/database.ts'
import type { NewJob } from '../../../src/storage/job.ts'
import { TransparentSession, wrappedDatabase } from '../../../src/storage/wrapped-session.ts'
import type { RandomSource } from '../random-source.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** Longest that a call takes in one direction while nothing is wrong. */
const LONGEST_MS = 40

export interface Wire {
  cutUntil: number
  call<T>(work: () => MaybePromise<T>): Promise<T>
}

export function wireOf(time: VirtualTime, owner: Owner, dice: RandomSource): Wire {
  const delay = () => (dice.chance(0.7) ? 0 : dice.between(1, LONGEST_MS))
  const wire: Wire = {
    cutUntil: 0,
    async call(work) {
      await time.wait(owner, delay())
      if (time.now < wire.cutUntil) throw lost()
      const result = await work()
      await time.wait(owner, delay())
      if (time.now < wire.cutUntil) throw lost()
      return result
    },
  }
  return wire
}

function lost(): QuoinError {
  return new QuoinError('UNAVAILABLE', 'The connection to the database is lost.')
}

export interface WiredDatabase {
  readonly database: Database
  /** The database sees that the node is gone: what it had not committed is undone. */
  disconnect(): void
}

/** `own`: what is the node's own, such as its jobs. */
export function wiredDatabase(database: Database, wire: Wire, own: Partial<Capabilities>): WiredDatabase {
  const open = new Set<WiredSession>()
  const session: Database['session'] = (origin) => {
    const made = new WiredSession(database.session(origin), wire)
    open.add(made)
    return made
  }
  return {
    database: wrappedDatabase(database, { session, capabilities: { ...database.capabilities, ...own } }),
    disconnect() {
      for (const one of open) one.disconnect()
    },
  }
}

class WiredSession extends TransparentSession {
  readonly #wire: Wire
  #committing = false

  constructor(session: Session, wire: Wire) {
    super(session)
    this.#wire = wire
  }

  /** A COMMIT that is under way is not taken back. */
  disconnect(): void {
    if (!this.#committing) void this.session.transaction.rollback()
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.#call(() => super.get(storage, guid, options))
  }

  override find(storage: string, search: Search) {
    return this.#call(() => super.find(storage, search))
  }

  override count(storage: string, query: Query, includeRemoved?: boolean) {
    return this.#call(() => super.count(storage, query, includeRemoved))
  }

  override create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    return this.#call(() => super.create(storage, mutations, options))
  }

  override createAll(storage: string, documents: readonly NewDocument[]) {
    return this.#call(() => super.createAll(storage, documents))
  }

  override update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: { readonly updateHash?: string },
  ) {
    return this.#call(() => super.update(storage, guid, mutations, options))
  }

  override delete(storage: string, guid: string) {
    return this.#call(() => super.delete(storage, guid))
  }

  override enqueue(job: NewJob) {
    return this.#call(() => super.enqueue(job))
  }

  override commit() {
    return this.#call(() => {
      this.#committing = true
      return Promise.resolve(super.commit()).finally(() => {
        this.#committing = false
      })
    })
  }

  async #call<T>(work: () => MaybePromise<T>): Promise<T> {
    try {
      return await this.#wire.call(work)
    } catch (error) {
      this.disconnect()
      throw error
    }
  }
}
