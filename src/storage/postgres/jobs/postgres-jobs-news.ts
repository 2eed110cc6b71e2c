/** Tells workers that there may be something to do: those of this process, and those of the other nodes. */
import type { PostgresConnection } from '../core/rows.ts'

/** Where nodes tell each other; the message is who says it. */
export const JOB_CHANNEL = 'quoin_jobs'

export class JobNews {
  readonly #connection: PostgresConnection
  /** This process, in messages. */
  readonly #self: string
  readonly #listeners = new Set<() => void>()
  #waking = false
  /** Whether a message is on its way, and whether there is something new since. */
  #telling: 'no' | 'once' | 'again' = 'no'

  constructor(connection: PostgresConnection, self: string) {
    this.#connection = connection
    this.#self = self
  }

  listen(listener: () => void): () => void {
    // In a function of its own, so that one function can listen twice and end once.
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /**
   * Tells the others in a message of its own, one at a time however many commits there are: a NOTIFY inside each
   * transaction would make their commits wait for each other in the whole cluster, and for the disk one by one. A message
   * that is lost costs a worker's wait until it looks by itself.
   */
  committed(): void {
    this.#wake()
    if (this.#telling === 'no') void this.#tellOthers()
    else this.#telling = 'again'
  }

  heard(from: string | undefined): void {
    if (from !== this.#self) this.#wake()
  }

  /** Soon and once, however many ask. */
  #wake(): void {
    if (this.#waking) return
    this.#waking = true
    queueMicrotask(() => {
      this.#waking = false
      for (const listener of this.#listeners) listener()
    })
  }

  async #tellOthers(): Promise<void> {
    do {
      this.#telling = 'once'
      await this.#connection
        .rows('SELECT pg_notify($1, $2)', [JOB_CHANNEL, this.#self])
        .catch(() => undefined)
    } while (this.#isNewsLeft())
    this.#telling = 'no'
  }

  #isNewsLeft(): boolean {
    return this.#telling === 'again'
  }
}
