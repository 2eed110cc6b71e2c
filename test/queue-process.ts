/**
 * A process that begins a job and never ends it, for the test that ends the process without warning. Argument: the
 * directory. Enqueues three jobs, has room for one, and prints `running <guid>` when it runs; its lease is short.
 */
import { randomFillSync } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openQueue } from '../src/queue/queue-worker.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import { transact } from '../src/storage/transact.ts'

const [directory = ''] = process.argv.slice(2)
const database = await openSqliteDatabase({ directory, clock: Date.now, random: randomFillSync, entity: 1 })
await transact(database, async (session) => {
  for (let n = 0; n < 3; n++)
    await session.enqueue({ queue: 'default', kind: 'function', title: `${n}`, payload: {} })
})
openQueue({
  ...database.capabilities,
  async runJob({ guid }) {
    writeSync(1, `running ${guid}\n`)
    await new Promise(() => setInterval(() => undefined, 60_000))
  },
  clock: Date.now,
  random: randomFillSync,
  settings: { concurrency: 1, leaseMs: 400 },
  log: () => undefined,
})
