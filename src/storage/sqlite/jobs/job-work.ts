/** Reads and writes of the queue's tables, through the one writer, and who is told when there is something to do. */
import { isPromise } from '../../../shared/maybe-promise.ts'
import type { Segment } from '../core/commit-group.ts'
import { guarded, type SqliteConnection } from '../core/sqlite-connection.ts'
import type { SqliteWriter } from '../core/sqlite-writer.ts'

/** What a piece of work did, which decides whether anything is committed and whether workers are woken. */
export interface Effect {
  wrote: boolean
  wakes: boolean
}

export interface JobConnections {
  readonly writer: SqliteWriter
  readonly reader: SqliteConnection
}

export class JobWork {
  readonly #connections: JobConnections
  readonly #listeners = new Set<() => void>()
  #waking = false

  constructor(connections: JobConnections) {
    this.#connections = connections
  }

  /** Soon, and once for any number of calls: it is called in the middle of a commit, where no code may take the writer. */
  wake(): void {
    if (this.#waking) return
    this.#waking = true
    queueMicrotask(() => {
      this.#waking = false
      for (const listener of this.#listeners) listener()
    })
  }

  onEnqueued(listener: () => void): () => void {
    // In a function of its own, so that one function can listen twice and end once.
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  read<T>(work: (connection: SqliteConnection) => T): T {
    const { writer, reader } = this.#connections
    return guarded(() => work(writer.idle ? writer.connection : reader), writer.noteFailure)
  }

  /** One transaction of its own; resolves when it is durable. What the work throws leaves nothing behind. */
  async write<T>(work: (connection: SqliteConnection, effect: Effect) => T): Promise<T> {
    const { writer } = this.#connections
    const effect: Effect = { wrote: false, wakes: false }
    const segment: Segment = {
      granted: () => undefined,
      lost: () => undefined,
      settled: (error) => {
        if (error === undefined && effect.wakes) this.wake()
      },
    }
    const turn = writer.take(segment)
    if (isPromise(turn)) await turn
    let result: T
    try {
      result = writer.operate(segment, (connection) => work(connection, effect))
    } catch (error) {
      await writer.undo(segment)
      throw error
    }
    if (effect.wrote) await writer.keep(segment)
    else await writer.undo(segment)
    return result
  }
}
