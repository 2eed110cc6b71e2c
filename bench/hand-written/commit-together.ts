import type { DatabaseSync } from 'node:sqlite'

interface Waiting {
  readonly kept: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Group commit: the writes of one turn of the event loop share a transaction and its fsync, each in a savepoint of its
 * own, and each promise resolves after the COMMIT. Writes are synchronous, so no two are ever open at once.
 */
export function commitTogether(database: DatabaseSync): <T>(write: () => T) => Promise<T> {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const savepoint = database.prepare('SAVEPOINT one')
  const release = database.prepare('RELEASE one')
  const undo = database.prepare('ROLLBACK TO one')
  let group: Waiting[] | undefined

  function finish(): void {
    const waiting = group
    if (waiting === undefined) return
    group = undefined
    try {
      commit.run()
    } catch (error) {
      fail(waiting, error)
      return
    }
    for (const { kept } of waiting) kept()
  }

  function fail(waiting: readonly Waiting[], error: unknown): void {
    if (database.isTransaction) database.exec('ROLLBACK')
    for (const { failed } of waiting) failed(error)
  }

  return (write) =>
    new Promise((resolve, reject) => {
      if (group === undefined) {
        begin.run()
        group = []
        setImmediate(finish)
      }
      savepoint.run()
      try {
        const result = write()
        release.run()
        group.push({ kept: () => resolve(result), failed: reject })
      } catch (error) {
        reject(error)
        if (database.isTransaction) {
          undo.run()
          release.run()
          return
        }
        // A full disk can make SQLite leave the whole transaction: then no write of this group is stored.
        const lost = group
        group = undefined
        fail(lost, error)
      }
    })
}
