import type { Clock } from '../../../shared/clock.ts'
import { checkQueue, type JobState, type QueueSettings, type QueueState, type Queues } from '../../job.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { ROWS } from '../sql/sql-values.ts'
import { ensureQueue, type JobWork } from './sqlite-jobs-claim.ts'

const PURGE_BATCH = 1000

export class SqliteQueues implements Queues {
  readonly #work: JobWork
  readonly #clock: Clock

  constructor(work: JobWork, clock: Clock) {
    this.#work = work
    this.#clock = clock
  }

  list(): readonly QueueState[] {
    const now = this.#clock()
    return this.#work.read((connection) => listQueues(connection, now))
  }

  configure(queue: string, settings: QueueSettings): Promise<QueueState> {
    checkQueue(queue, settings)
    const { paused, concurrency } = settings
    const now = this.#clock()
    return this.#work.write((connection, effect) => {
      effect.wrote = effect.wakes = true
      ensureQueue(connection, queue)
      if (paused !== undefined)
        connection.run('UPDATE queue SET paused = ? WHERE name = ?', paused ? 1 : 0, queue)
      if (concurrency !== undefined)
        connection.run('UPDATE queue SET concurrency = ? WHERE name = ?', concurrency, queue)
      const [state] = listQueues(connection, now, queue)
      if (state === undefined) throw new Error('The queue is not there.')
      return state
    })
  }

  async purge(doneBefore: number): Promise<number> {
    let purged = 0
    for (;;) {
      // In batches, so that others have the writer in between.
      const batch = await this.#work.write((connection, effect) => {
        const gone = connection.all(
          `DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state = 'done' AND finished < ? LIMIT ${ROWS}) RETURNING id`,
          doneBefore,
          PURGE_BATCH,
        )
        effect.wrote = gone.length > 0
        return gone.length
      })
      purged += batch
      if (batch < PURGE_BATCH) break
    }
    await this.#work.write((connection, effect) => {
      const gone = connection.all(
        `DELETE FROM queue WHERE paused = 0 AND concurrency IS NULL
         AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.name) RETURNING name`,
      )
      effect.wrote = gone.length > 0
    })
    return purged
  }
}

/** All queues by name, or the one that is named. Counts the jobs of each in an index: some 10 ms for 100,000. */
function listQueues(connection: SqliteConnection, now: number, only?: string): QueueState[] {
  const queues = connection.all(
    'SELECT name, paused, concurrency FROM queue WHERE ? IS NULL OR name = ? ORDER BY name',
    only ?? null,
    only ?? null,
  )
  return queues.map((row) => {
    const name = textOf(row, 'name')
    const counts = new Map(
      connection
        .all('SELECT state, count(*) AS n FROM job WHERE queue = ? GROUP BY state', name)
        .map((count) => [textOf(count, 'state'), numberOf(count, 'n')]),
    )
    const count = (state: JobState) => counts.get(state) ?? 0
    const oldest = connection.get(
      `SELECT run_at FROM job INDEXED BY job_due
       WHERE queue = ? AND state = 'waiting' AND held = 0 AND run_at <= ? ORDER BY run_at LIMIT 1`,
      name,
      now,
    )
    return {
      name,
      paused: numberOf(row, 'paused') === 1,
      concurrency: typeof row.concurrency === 'number' ? row.concurrency : null,
      waiting: count('waiting'),
      running: count('running'),
      done: count('done'),
      dead: count('dead'),
      oldest: oldest ? numberOf(oldest, 'run_at') : null,
    }
  })
}
