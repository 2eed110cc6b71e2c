import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

export interface TemporaryDatabase {
  readonly url: string
  /** Ends the connections that are left, too. */
  drop(): Promise<void>
}

/** An empty database on the PostgreSQL of this test run. */
export async function openTemporaryDatabase(): Promise<TemporaryDatabase> {
  const server = `postgres://quoin@127.0.0.1:${inject('postgresPort')}`
  const name = `test_${randomBytes(8).toString('hex')}`
  await run(server, `CREATE DATABASE ${name}`)
  return { url: `${server}/${name}`, drop: () => run(server, `DROP DATABASE ${name} WITH (FORCE)`) }
}

async function run(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: `${server}/postgres` })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
