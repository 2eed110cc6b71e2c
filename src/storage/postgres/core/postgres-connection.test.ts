/** How a statement ends when the server does not answer. Conformance tests the pool with a real server. */
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openTemporaryDatabase } from '../../../../test/temporary-database.ts'
import { openPostgresPool } from './postgres-connection.ts'
import { textOf } from './rows.ts'

/** Takes connections and then says nothing, or hangs up. */
async function openSilentServer(hangUp: boolean) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    if (hangUp) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return {
    url: `postgres://quoin@127.0.0.1:${address.port}/quoin`,
    met: () => sockets.length,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test.each([
  ['a server that hangs is asked once: each try would take another five seconds', false, 1],
  ['a server that hangs up is asked once more for each connection of the pool', true, 5],
] as const)('%s', async (_name, hangUp, asked) => {
  const server = await openSilentServer(hangUp)
  const pool = openPostgresPool({ url: server.url, connections: 4, pooled: false })
  try {
    await expect(pool.reading.rows('SELECT 1')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 })
    expect(server.met()).toBe(asked)
  } finally {
    await pool.close()
    await server.close()
  }
})

test('a statement may take a minute, the making of an index hours, on a connection of its own', async () => {
  const temporary = await openTemporaryDatabase()
  const pool = openPostgresPool({ url: temporary.url, connections: 2, pooled: false })
  try {
    const limits = [pool, pool.reading, pool.lasting].map((one) =>
      one.rows(`SELECT current_setting('statement_timeout') AS most, pg_backend_pid() AS process`),
    )
    const [statements, reading, lasting] = (await Promise.all(limits)).map(([row]) => row ?? {})
    expect([statements, reading, lasting].map((row) => row && textOf(row, 'most'))).toEqual([
      '1min',
      '1min',
      '6h',
    ])
    expect(lasting?.process).not.toBe(statements?.process)
  } finally {
    await pool.close()
    await temporary.drop()
  }
})
