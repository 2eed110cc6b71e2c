/**
 * Files of a request while nothing durable knows of them. They are stored before their flow runs, and deleted again when it
 * refuses them; a process that is killed in between leaves them. So each has a note with its guid from the transaction that
 * creates its record on, and the first transaction in which the run commits anything, or replies, deletes the note. The files whose
 * note is a day old are those that no document, job or client can name: `sweep-assets.ts` deletes them.
 */
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Database, Session } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'

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

  constructor(database: Database) {
    this.#database = database
  }

  /** Further files, which have notes. */
  add(guids: readonly string[]): void {
    this.#guids = [...this.#guids, ...guids]
  }

  /** The session of the run, which lets go of the files with its first commit. */
  readonly around = (session: Session): Session => new ReleasingSession(session, this)

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

  override commit(): MaybePromise<void> {
    if (!this.hasWritten) return super.commit()
    const committed = andThen(this.#held.release(this.session), () => super.commit())
    return andThen(committed, () => this.#held.released())
  }
}
