import type { Clock } from '../../../shared/clock.ts'
import { checkQueue, type QueueSettings, type QueueState, type Queues } from '../../job.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'

// Tells workers that there may be something to do: those of this process, and those of the other nodes.

/** Where nodes tell each other; the message is who says it. */
export const JOB_CHANNEL = 'quoin_jobs'

export class JobEvents {
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

const PURGE_BATCH = 1000

export interface QueueParts {
  readonly pool: PostgresPool
  readonly clock: Clock
  readonly news: JobEvents
}

export class PostgresQueues implements Queues {
  readonly #pool: PostgresPool
  readonly #clock: Clock
  readonly #news: JobEvents

  constructor({ pool, clock, news }: QueueParts) {
    this.#pool = pool
    this.#clock = clock
    this.#news = news
  }

  list(): Promise<readonly QueueState[]> {
    return listQueues(this.#pool.reading, this.#clock())
  }

  async configure(queue: string, settings: QueueSettings): Promise<QueueState> {
    checkQueue(queue, settings)
    const { paused, concurrency } = settings
    await saveQueue(this.#pool, queue, paused, concurrency)
    this.#news.committed()
    const [state] = await listQueues(this.#pool.reading, this.#clock(), queue)
    if (state === undefined) throw new Error('The queue is not there.')
    return state
  }

  async purge(doneBefore: number): Promise<number> {
    let purged = 0
    for (;;) {
      const batch = await this.#pool.run(
        `DELETE FROM job WHERE id = ANY (ARRAY(
           SELECT id FROM job WHERE state = 'done' AND finished < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`,
        [doneBefore, PURGE_BATCH],
      )
      purged += batch
      if (batch < PURGE_BATCH) break
    }
    await this.#pool.run(
      `DELETE FROM queue WHERE name = ANY (ARRAY(
         SELECT name FROM queue WHERE NOT paused AND concurrency IS NULL
           AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.name) FOR UPDATE SKIP LOCKED))`,
    )
    return purged
  }
}

/** All queues by name, or the one that is named. Counts the jobs of each in an index: some 10 ms for 100,000. */
async function listQueues(
  connection: PostgresConnection,
  now: number,
  only?: string,
): Promise<readonly QueueState[]> {
  // The names are found by walking the index from each queue to the next, not over all jobs.
  const rows = await connection.rows(
    `WITH RECURSIVE used AS (
      (SELECT queue AS name FROM job ORDER BY queue LIMIT 1)
      UNION ALL
      SELECT (SELECT queue FROM job WHERE queue > used.name ORDER BY queue LIMIT 1) FROM used WHERE used.name IS NOT NULL),
    named AS (SELECT name FROM used WHERE name IS NOT NULL UNION SELECT name FROM queue)
    SELECT named.name, coalesce(queue.paused, false) AS paused, queue.concurrency, counts.*,
      (SELECT run_at FROM job WHERE job.queue = named.name AND state = 'waiting' AND NOT held AND run_at <= $1
        ORDER BY run_at LIMIT 1) AS oldest
    FROM named LEFT JOIN queue ON queue.name = named.name
    CROSS JOIN LATERAL (SELECT
        count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
        count(*) FILTER (WHERE state = 'done') AS done, count(*) FILTER (WHERE state = 'dead') AS dead
      FROM job WHERE job.queue = named.name) AS counts
    WHERE $2::text IS NULL OR named.name = $2
    ORDER BY named.name`,
    [now, only ?? null],
  )
  return rows.map((row) => ({
    name: textOf(row, 'name'),
    paused: row.paused === true,
    concurrency: row.concurrency === null ? null : numberOf(row, 'concurrency'),
    waiting: numberOf(row, 'waiting'),
    running: numberOf(row, 'running'),
    done: numberOf(row, 'done'),
    dead: numberOf(row, 'dead'),
    oldest: row.oldest === null ? null : numberOf(row, 'oldest'),
  }))
}

/** Waits while others claim from the queue or change it, and makes its row if there is none. */
async function saveQueue(
  connection: PostgresConnection,
  queue: string,
  paused: boolean | undefined,
  concurrency: number | null | undefined,
): Promise<void> {
  await connection.run(
    `INSERT INTO queue (name, paused, concurrency) VALUES ($1, coalesce($2::boolean, false), $3)
     ON CONFLICT (name) DO UPDATE SET
       paused = coalesce($2::boolean, queue.paused),
       concurrency = CASE WHEN $4 THEN $3::integer ELSE queue.concurrency END`,
    [queue, paused ?? null, concurrency ?? null, concurrency !== undefined],
  )
}
