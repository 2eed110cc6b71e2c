/**
 * The writer's database when there are reading processes: the same database, but a commit that wrote to a watched storage
 * resolves only when every reader has applied it. The writer watches the same storages as the readers, because both open
 * the same services.
 */
import { andThen, isPromise, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Cluster } from '../storage/cluster.ts'
import type { Observer, Session } from '../storage/database.ts'
import { keepsRules, type RawDatabase } from '../storage/ruled.ts'
import { wrappedDatabase } from '../storage/wrapped-database.ts'
import { TransparentSession } from '../storage/wrapped-session.ts'

export interface Announced {
  readonly cluster: Cluster
  /** Resolves when every reader has applied the change; undefined if it need not wait. null: read the whole storage again. */
  tell(name: string, guids: readonly string[] | null): Promise<void> | undefined
}

export function announcedDatabase(database: RawDatabase, { cluster, tell }: Announced): RawDatabase {
  /** The number of watchers of each storage, and the function that stops observing its writes. */
  const watched = new Map<string, { count: number; readonly end: () => void }>()
  /** The engine gives observers its own session; here they must get the wrapped session that the writer holds. */
  const outer: Outer = new WeakMap()

  function watch(name: string): () => void {
    const known = watched.get(name)
    if (known) known.count += 1
    else {
      const note: Observer = (session, change) => outer.get(session)?.note(change.storage, change.guid)
      watched.set(name, { count: 1, end: database.observe(name, note) })
    }
    return () => {
      const left = watched.get(name)
      if (left === undefined || --left.count > 0) return
      watched.delete(name)
      left.end()
    }
  }

  const announced = wrappedDatabase(database, {
    async drop(name) {
      await database.drop(name)
      if (watched.has(name)) await tell(name, null)
    },
    session: (origin) => new AnnouncingSession(database.session(origin), tell, outer),
    observe: (name, observer) =>
      database.observe(name, (session, change) => observer(outer.get(session) ?? session, change)),
    capabilities: {
      ...database.capabilities,
      cluster,
      changes: { watch, version: database.capabilities.changes.version },
    },
  })
  return { ...announced, [keepsRules]: false }
}

type Outer = WeakMap<Session, AnnouncingSession>

/** Guids by watched storage. */
type Written = Map<string, string[]>

class AnnouncingSession extends TransparentSession {
  readonly #tell: Announced['tell']
  readonly #outer: Outer
  #known = false
  /** Since the last commit. */
  #written: Written | undefined

  constructor(session: Session, tell: Announced['tell'], outer: Outer) {
    super(session)
    this.#tell = tell
    this.#outer = outer
  }

  /** To be written through, and so to be met by observers. Sessions that only read are spared the weak reference. */
  protected override get writing(): Session {
    if (!this.#known) this.#outer.set(this.session, this)
    this.#known = true
    return this.session
  }

  note(storage: string, guid: string): void {
    this.#written ??= new Map()
    const guids = this.#written.get(storage)
    if (guids) guids.push(guid)
    else this.#written.set(storage, [guid])
  }

  override commit(): MaybePromise<void> {
    const written = this.#written
    this.#written = undefined
    const committed = this.session.transaction.commit()
    if (!isPromise(committed)) return this.#announce(written)
    return committed.then(() => this.#announce(written))
  }

  override rollback(): MaybePromise<void> {
    return andThen(this.session.transaction.rollback(), () => {
      this.#written = undefined
    })
  }

  /**
   * A write that waited for its turn is committed too although it was noted after `commit` was called. What was noted
   * since may also belong to the next commit, which then tells it again.
   */
  #announce(written: Written | undefined): Promise<void> | undefined {
    const told = [...(written ?? []), ...(this.#written ?? [])].flatMap(
      ([storage, guids]) => this.#tell(storage, guids) ?? [],
    )
    return told.length === 0 ? undefined : Promise.all(told).then(() => undefined)
  }
}
