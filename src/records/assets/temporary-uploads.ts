/**
 * Files of a request while nothing durable knows of them. They are stored before their flow runs, and deleted again when it
 * refuses them; a process that is killed in between leaves them. So each has a note with its guid from the transaction that
 * creates its record on, and the first transaction in which the run commits anything, or replies, deletes the note. The files whose
 * note is a day old are those that no document, job or client can name: `sweep-assets.ts` deletes them.
 */
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { type Mutation, setFields } from '../../shared/mutation.ts'
import {
  type CreateOptions,
  type Database,
  documentOf,
  type NewDocument,
  type Session,
  type WriteCondition,
} from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { noteDocument } from './page-uploads.ts'

/** In the transaction that creates the record of the asset. */
export async function holdUpload(session: Session, asset: string): Promise<void> {
  await session.create(systemStorages.assetNotes, setFields({ place: '', upload: asset }), { guid: asset })
}

/** Does nothing where there is no note. */
export function releaseUpload(session: Session, asset: string): MaybePromise<unknown> {
  return session.delete(systemStorages.assetNotes, asset)
}

/** Of one request. */
export class TemporaryUploads {
  /** The files are deleted when the run has ended, whatever it commits. */
  isRefused = false
  readonly #database: Database
  #guids: readonly string[] = []
  /** Also those that nothing holds any longer. */
  readonly #all: string[] = []

  constructor(database: Database) {
    this.#database = database
  }

  /** Further files, which have notes. */
  add(guids: readonly string[]): void {
    this.#guids = [...this.#guids, ...guids]
    this.#all.push(...guids)
  }

  /** The session of the run, which lets go of the files with its first commit, and notes the documents that it writes with them. */
  readonly around = (session: Session): Session => new ReleasingSession(session, this)

  /** Only the run knows the guids of files that were sent with its request. */
  note(session: Session, storage: string, written: StoredJson | undefined): MaybePromise<unknown> {
    if (written === undefined || storage.startsWith('_')) return undefined
    let done: MaybePromise<unknown>
    for (const asset of this.#all)
      if (written.text.includes(asset))
        done = andThen(done, () => noteDocument(session, asset, guidOf(documentOf(written))))
    return done
  }

  /** In a transaction of the run. */
  release(session: Session): MaybePromise<unknown> {
    let released: MaybePromise<unknown>
    if (!this.isRefused)
      for (const guid of this.#guids) released = andThen(released, () => releaseUpload(session, guid))
    return released
  }

  /** That transaction is durable. */
  released(): void {
    if (!this.isRefused) this.#guids = []
  }

  /** Behind a run that has not refused them. */
  async end(): Promise<void> {
    if (this.#guids.length > 0) await transact(this.#database, (session) => this.release(session))
    this.released()
  }
}

class ReleasingSession extends TransparentSession {
  readonly #held: TemporaryUploads

  constructor(session: Session, held: TemporaryUploads) {
    super(session)
    this.#held = held
  }

  override create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    return andThen(super.create(storage, mutations, options), (made) =>
      andThen(this.#held.note(this.session, storage, made), () => made),
    )
  }

  override createAll(storage: string, documents: readonly NewDocument[]) {
    return andThen(super.createAll(storage, documents), (made) => {
      let done: MaybePromise<unknown>
      for (const one of made.documents)
        done = andThen(done, () => this.#held.note(this.session, storage, one))
      return andThen(done, () => made)
    })
  }

  override update(storage: string, guid: string, mutations: readonly Mutation[], options?: WriteCondition) {
    return andThen(super.update(storage, guid, mutations, options), (written) => {
      const document = written.outcome === 'written' ? written.document : undefined
      return andThen(this.#held.note(this.session, storage, document), () => written)
    })
  }

  override commit(): MaybePromise<void> {
    if (!this.hasWritten) return super.commit()
    const committed = andThen(this.#held.release(this.session), () => super.commit())
    return andThen(committed, () => this.#held.released())
  }
}
