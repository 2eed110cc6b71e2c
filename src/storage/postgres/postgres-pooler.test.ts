/** Everything that a storage promises, through PgBouncer in transaction mode, which shares three connections among all. */
import { randomFillSync } from 'node:crypto'
import { inject, test } from 'vitest'
import { hasPgBouncer, openPgBouncer } from '../../../test/postgres/pgbouncer.ts'
import { freePort } from '../../../test/postgres/postgres-server.ts'
import { openTemporaryDatabase } from '../../../test/temporary-database.ts'
import { testClock } from '../../../test/temporary-storage.ts'
import { describeStorage } from '../conformance.ts'
import { openPostgresStorage } from './postgres-storage.ts'

if (hasPgBouncer())
  describeStorage('postgres behind PgBouncer', async () => {
    const database = await openTemporaryDatabase()
    const bouncer = await openPgBouncer(await freePort(), inject('postgresPort'))
    const pooled = new URL(database.url)
    pooled.port = String(bouncer.port)
    const clock = testClock()
    const open = () =>
      openPostgresStorage({
        url: pooled.href,
        listenUrl: database.url,
        connections: 10,
        clock,
        random: randomFillSync,
        entity: 1,
        node: { name: 'one', version: '1.0.0' },
        monotonic: () => performance.now(),
        load: () => 0,
      })
    const storage = await open()
    let last = storage
    return {
      storage,
      clock,
      async reopen() {
        await last.close()
        last = await open()
        return last
      },
      async destroy() {
        await last.close()
        await bouncer.close()
        await database.drop()
      },
    }
  })
else test.skip('postgres behind PgBouncer (the program pgbouncer is not installed here)', () => undefined)
