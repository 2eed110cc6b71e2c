import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { openPostgresPool, type PostgresPool } from './postgres-connection.ts'
import { sendSoon } from './postgres-transaction.ts'

let temporary: TemporaryDatabase
beforeAll(async () => {
  temporary = await openTemporaryDatabase()
})
afterAll(() => temporary.drop())

async function withPool(connections: number, work: (pool: PostgresPool) => Promise<void>): Promise<void> {
  const pool = openPostgresPool({ url: temporary.url, connections, pooled: false })
  try {
    await work(pool)
  } finally {
    await pool.close()
  }
}

const pid = 'SELECT pg_backend_pid() AS pid'

test.each([2, 3, 4, 10])(
  'of %i connections half are for transactions that wait for their flow; the rest get on',
  (connections) =>
    withPool(connections, async (pool) => {
      const held = Array.from({ length: Math.floor(connections / 2) }, () => pool.transaction())
      for (const transaction of held) await transaction.rows(pid)
      const next = pool.transaction()
      let isHeld = false
      const begun = next.rows(pid).then(() => {
        isHeld = true
      })
      // What one of them may need to go on: a write, a transaction of one round trip, and a read.
      await pool.rows(pid)
      const brief = pool.transaction()
      sendSoon(brief, pid)
      await brief.commit()
      expect(await pool.reading.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
      expect(isHeld).toBe(false)
      expect(pool.connections()).toMatchObject({ busy: held.length, waiting: 1, most: connections })
      await held[0]?.rollback()
      await begun
      for (const transaction of [...held, next]) await transaction.rollback()
    }),
)

test('64 jobs that hold transactions leave one to a request, and have theirs one after the other', () =>
  withPool(10, async (pool) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let begun = 0
    const jobs = Array.from({ length: 64 }, async () => {
      const job = pool.transaction({ background: true })
      await job.rows(pid)
      begun += 1
      await released
      await job.commit()
    })
    const request = pool.transaction()
    await request.rows(pid)
    await request.commit()
    expect(begun).toBeLessThanOrEqual(4)
    release()
    await Promise.all(jobs)
    expect(begun).toBe(64)
    expect(pool.connections()).toMatchObject({ busy: 0, waiting: 0 })
  }))

test('reads may have all connections, and never more', () =>
  withPool(4, async (pool) => {
    const processes = await Promise.all(
      Array.from({ length: 12 }, () => pool.reading.rows('SELECT pg_backend_pid() AS pid, pg_sleep(0.05)')),
    )
    expect(new Set(processes.map(([row]) => row?.pid)).size).toBe(4)
    expect(pool.connections()).toEqual({ busy: 0, idle: 4, waiting: 0, most: 4 })
  }))

test('a read that fails leaves its connection as good as it was', () =>
  withPool(2, async (pool) => {
    const [before] = await pool.reading.rows(pid)
    await expect(pool.reading.rows('SELECT 1 / $1::integer', [0])).rejects.toMatchObject({ code: '22012' })
    const values = ['a "b" \\ {c}', '', null, 'NULL', 'ä😀'] as const
    const [row] = await pool.reading.rows(
      'SELECT $1::text[] AS texts, $2::bigint AS big, $3::boolean AS yes',
      [values, 2 ** 53 - 1, true],
    )
    expect(row).toEqual({ texts: values, big: 2 ** 53 - 1, yes: true })
    expect((await pool.reading.rows(pid)).map((again) => again.pid)).toEqual([before?.pid])
  }))
