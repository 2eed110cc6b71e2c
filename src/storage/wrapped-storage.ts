import type { Storage } from './storage.ts'

/** Documents are written through sessions and nowhere else, so what those are has to be said. */
export type StorageChanges = Pick<Storage, 'session'> & Partial<Storage>

/**
 * A storage that is another one but for the members that are given. A new member of `Storage` does not compile until it
 * is handed on here; one that writes documents belongs to those that {@link StorageChanges} asks for. Bound and not called
 * with the arguments by name, so that one that a member gets later is handed on too.
 */
export function wrappedStorage(storage: Storage, changes: StorageChanges): Storage {
  return {
    engine: storage.engine,
    ensure: storage.ensure.bind(storage),
    release: storage.release.bind(storage),
    drop: storage.drop.bind(storage),
    has: storage.has.bind(storage),
    names: storage.names.bind(storage),
    observe: storage.observe.bind(storage),
    watch: storage.watch.bind(storage),
    version: storage.version.bind(storage),
    stamp: storage.stamp.bind(storage),
    kept: storage.kept.bind(storage),
    slowSearches: storage.slowSearches.bind(storage),
    preparing: storage.preparing.bind(storage),
    alone: storage.alone.bind(storage),
    cluster: storage.cluster,
    jobs: storage.jobs,
    close: storage.close.bind(storage),
    ...changes,
  }
}
