import type { Query, Search } from '../../shared/query.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { Claims } from '../../storage/claims.ts'
import type { Session } from '../../storage/database.ts'
import { otherStorages } from '../../storage/search/other-storages.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { ReadSet } from './read-set.ts'

/** The version of a storage: another one after each write that this process knows of. */
type StorageVersion = (storage: string) => number

/**
 * What a run has read, to be asked again and again whether a second run may read something else. First by the storages that
 * it has read; where one was written to, by the documents and pages that it has read, if the process can tell (`versions`).
 * It may say that something has changed where nothing has, and never the other way round.
 */
export class ObservedReads {
  readonly #version: StorageVersion
  readonly #exact: ReadSet | undefined
  readonly #storages = new Map<string, number>()

  constructor(version: StorageVersion, versions: ReadVersions | undefined) {
    this.#version = version
    this.#exact = versions && new ReadSet(versions)
  }

  /** A session that notes what is read through it. */
  session(session: Session): Session {
    return new ObservingSession(this.#exact?.session(session) ?? session, this)
  }

  /** Before the read, so that a write in between counts as a change. */
  note(storage: string, query?: Query): void {
    for (const name of query ? [storage, ...otherStorages(query)] : [storage])
      if (!this.#storages.has(name)) this.#storages.set(name, this.#version(name))
  }

  get haveChanged(): boolean {
    let written = false
    for (const [name, seen] of this.#storages) if (this.#version(name) !== seen) written = true
    if (!written) return false
    if (!this.#exact?.areUnchanged) return true
    for (const name of this.#storages.keys()) this.#storages.set(name, this.#version(name))
    return false
  }
}

class ObservingSession extends TransparentSession {
  readonly #reads: ObservedReads

  constructor(session: Session, reads: ObservedReads) {
    super(session)
    this.#reads = reads
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    this.#reads.note(storage)
    return super.get(storage, guid, options)
  }

  override find(storage: string, search: Search) {
    this.#reads.note(storage, search.query)
    return super.find(storage, search)
  }

  override findWithTotal(storage: string, search: Search) {
    this.#reads.note(storage, search.query)
    return super.findWithTotal(storage, search)
  }

  override aggregate(storage: string, requested: Aggregate) {
    this.#reads.note(storage, requested.query)
    return super.aggregate(storage, requested)
  }

  override count(...requested: Parameters<Session['count']>) {
    this.#reads.note(requested[0], requested[1])
    return super.count(...requested)
  }

  override findByUniqueKey(...requested: Parameters<Claims['findByUniqueKey']>) {
    this.#reads.note(requested[0])
    return super.findByUniqueKey(...requested)
  }
}
