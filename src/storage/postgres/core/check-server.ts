/** Whether a node can start on a PostgreSQL, and what is said when it cannot: host, database, and what to do. */
import { Client } from 'pg'
import { QuoinError } from '../../../shared/errors.ts'
import { numberOf, type PostgresConnection, textOf } from './rows.ts'

const OLDEST = 150_000
const READ_ONLY = '25006'
const NO_SCHEMA = '3F000'
const NO_RIGHTS = '42501'
const PATIENCE_MS = 5_000

/** Throws UNAVAILABLE with a message for the administrator who starts the node. */
export async function checkServer(connection: PostgresConnection, url: string): Promise<void> {
  const [row] = await connection
    .rows(
      `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS shown,
        current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS durable,
        pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only`,
    )
    .catch((error: unknown) => {
      throw unreachable(url, error)
    })
  if (row === undefined) throw new TypeError('PostgreSQL says nothing about itself.')
  const place = placeOf(url)
  if (numberOf(row, 'version') < OLDEST)
    throw unfit(`${place} is version ${textOf(row, 'shown')}, which is too old; Quoin needs 15 or newer.`)
  if (row.encoding !== 'UTF8')
    throw unfit(`${place} has the encoding ${String(row.encoding)}; Quoin needs UTF8.`)
  if (row.durable === 'off')
    throw unfit(
      `${place} has synchronous_commit off, so writes would be lost after they were acknowledged. Set it to on.`,
    )
  if (row.standby === true) throw unfit(standby(place))
  if (row.read_only === 'on') throw unfit(readOnly(place))
}

/** Whether a Quoin stores in this database: a start would make its tables where there are none. Throws UNAVAILABLE as {@link checkServer}. */
export async function holdsQuoin(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  // One that breaks later fails the statement after it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query(
      `SELECT to_regclass('migration') IS NOT NULL AND to_regclass('storage') IS NOT NULL AS there`,
    )
    return rows[0]?.there === true
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** What a start that failed is told as, where there is something to do about it; else the error itself. */
export function startProblem(url: string, error: unknown): unknown {
  const reason = error instanceof QuoinError ? error.cause : error
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
  if (code === READ_ONLY) return unfit(readOnly(placeOf(url)), error)
  if (code === NO_RIGHTS || code === NO_SCHEMA) return unfit(noRights(url, reason), error)
  return error
}

export function unreachable(url: string, error: unknown): unknown {
  if (error instanceof QuoinError && error.cause === undefined) return error
  const reason = error instanceof QuoinError ? error.cause : error
  const why = reason instanceof Error && reason.message !== '' ? reason.message : codeOf(reason)
  return unfit(`${placeOf(url)} cannot be used: ${why}.`, error)
}

/** Without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `PostgreSQL at ${host}${pathname}`
}

/** Where several addresses were tried in vain, the error has no message of its own. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
}

function unfit(message: string, cause?: unknown): QuoinError {
  return new QuoinError('UNAVAILABLE', message, { cause })
}

const standby = (place: string) =>
  `${place} is a standby, which takes no writes. Set DATABASE_URL to the primary, or to an address that follows it after a failover.`

const readOnly = (place: string) =>
  `${place} is read-only (default_transaction_read_only is on), and a node has to write when it starts. Managed servers set it while their disk is nearly full: free some space, or set it to off.`

function noRights(url: string, reason: unknown): string {
  const why = reason instanceof Error ? reason.message : 'no rights'
  const database = decodeURIComponent(new URL(url).pathname.slice(1)).replaceAll('"', '""')
  return `${placeOf(url)} cannot be used: ${why}. The role of DATABASE_URL must be able to make tables there and own those of Quoin. As an administrator of PostgreSQL: ALTER DATABASE "${database}" OWNER TO <role>.`
}
