/** Everything that a storage promises, through PgBouncer in transaction mode, which shares three connections among all. */
import { test } from 'vitest'
import { describeStorage } from '../../../../test/conformance/conformance.ts'
import { openNode, reopenable } from '../../../../test/postgres/open-node.ts'
import { hasPgBouncer, openPgBouncer } from '../../../../test/postgres/pgbouncer.ts'
import { freePort } from '../../../../test/postgres/postgres-server.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { testClock } from '../../../../test/test-database.ts'

if (hasPgBouncer())
  describeStorage('postgres behind PgBouncer', async () => {
    const temporary = await openTemporaryDatabase()
    const bouncer = await openPgBouncer(await freePort(), await postgresPort())
    const pooled = new URL(temporary.url)
    pooled.port = String(bouncer.port)
    const clock = testClock()
    const { database, reopen, close } = await reopenable(() =>
      openNode(pooled.href, { listenUrl: temporary.url, connections: 10, clock }),
    )
    return {
      database,
      clock,
      reopen,
      async destroy() {
        await close()
        await bouncer.close()
        await temporary.drop()
      },
    }
  })
else test.skip('postgres behind PgBouncer (the program pgbouncer is not installed here)', () => undefined)
