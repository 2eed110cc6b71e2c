/** Databases that are there for the tests of an application alone: made on the server of an address, copied from one another, and dropped. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'

export interface PassingDatabase {
  readonly name: string
  readonly url: string
  /** Ends the connections that are left, too. */
  drop(): Promise<void>
}

export interface PassingDatabases {
  /** An empty one, or a copy of one that no process is connected to any more. */
  create(of?: PassingDatabase): Promise<PassingDatabase>
  close(): Promise<void>
}

const PATIENCE_MS = 5_000
/** A connection that was closed is gone from the server a moment later. */
const TRIES = 100
const PAUSE_MS = 50
const IN_USE = '55006'

/** `newName`: of [a-z0-9_], another one each time. Throws an Error of one line for a server that cannot be used. */
export async function openPassingDatabases(url: string, newName: () => string): Promise<PassingDatabases> {
  const { hostname, port } = new URL(url)
  const admin = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  // One that breaks later fails the statement after it.
  admin.on('error', () => undefined)
  await admin.connect().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new Error(`The PostgreSQL at ${hostname}:${port || '5432'} cannot be reached: ${reason}.`, {
      cause: error,
    })
  })
  const { rows } = await admin.query(
    'SELECT rolname, rolcreatedb OR rolsuper AS allowed FROM pg_roles WHERE rolname = current_user',
  )
  if (rows[0]?.allowed !== true) {
    await admin.end()
    const user = String(rows[0]?.rolname)
    throw new Error(
      `The user ${user} may not create databases at ${hostname}. Use another user, or allow it: ALTER ROLE ${user} CREATEDB.`,
    )
  }

  async function copied(statement: string): Promise<void> {
    for (let tried = 1; ; tried++)
      try {
        await admin.query(statement)
        return
      } catch (error) {
        const isInUse = error instanceof Error && 'code' in error && error.code === IN_USE
        if (!isInUse || tried === TRIES) throw error
        await wait(PAUSE_MS)
      }
  }

  return {
    async create(of) {
      const name = newName()
      await copied(`CREATE DATABASE ${name}${of ? ` TEMPLATE ${of.name}` : ''}`)
      const address = new URL(url)
      address.pathname = `/${name}`
      const drop = async () => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      return { name, url: address.href, drop }
    },
    close: () => admin.end(),
  }
}
