/**
 * Further databases on the server of an address: those of spaces, and those that are there for the tests of an application alone, which are
 * copied from one another and dropped.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'

/** The address of another database of the same server. */
function addressOf(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** With encoding and order of the database of the address. Nothing happens where there is one. `name`: of [a-z0-9_]. */
export function makeDatabase(url: string, name: string): Promise<void> {
  return onServer(url, async (admin) => {
    const { rows } = await admin.query(
      `SELECT datcollate AS collate, datctype AS ctype,
        EXISTS (SELECT FROM pg_database WHERE datname = $1) AS there
      FROM pg_database WHERE datname = current_database()`,
      [name],
    )
    const [{ collate, ctype, there }] = rows
    if (there === true) return
    const [collation, letters] = [collate, ctype].map((locale) => admin.escapeLiteral(String(locale)))
    await admin.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE ${collation} LC_CTYPE ${letters}`,
    )
  })
}

/** Ends the connections that are left, too. */
export function dropDatabase(url: string, name: string): Promise<void> {
  return onServer(url, async (admin) => {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })
}

const NO_RIGHTS = '42501'

async function onServer(url: string, work: (admin: Client) => Promise<void>): Promise<void> {
  const admin = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  admin.on('error', () => undefined)
  try {
    await admin.connect()
    await work(admin)
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === NO_RIGHTS
    const message = isRefused
      ? 'The role of DATABASE_URL may not make databases, and each space has one. As an administrator of PostgreSQL: ALTER ROLE <role> CREATEDB.'
      : 'PostgreSQL did not make or drop the database of a space. Try again.'
    throw new QuoinError(isRefused ? 'CONFLICT' : 'UNAVAILABLE', message, { cause: error })
  } finally {
    await admin.end().catch(() => undefined)
  }
}

export interface TemporaryDatabase {
  readonly name: string
  readonly url: string
  /** Ends the connections that are left, too. */
  drop(): Promise<void>
}

export interface TemporaryDatabases {
  /** An empty one, or a copy of one that no process is connected to any more. */
  create(of?: TemporaryDatabase): Promise<TemporaryDatabase>
  close(): Promise<void>
}

const PATIENCE_MS = 5_000
/** A connection that was closed is gone from the server a moment later. */
const TRIES = 100
const PAUSE_MS = 50
const IN_USE = '55006'

/** `newName`: of [a-z0-9_], another one each time. Throws an Error of one line for a server that cannot be used. */
export async function openTemporaryDatabases(
  url: string,
  newName: () => string,
): Promise<TemporaryDatabases> {
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
      const drop = async () => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      return { name, url: addressOf(url, name), drop }
    },
    close: () => admin.end(),
  }
}
