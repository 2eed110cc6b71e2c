/** Some connections to PostgreSQL, opened as they are needed, with what each of them is opened with. */
import { Pool, types } from 'pg'

export interface OpenPool {
  readonly url: string
  /** Connections. */
  readonly most: number
  /** Behind a pooler, which refuses settings that a connection is opened with. */
  readonly pooled: boolean
  /** How long a statement may take. */
  readonly statementMs: number
  /** Names and values, besides those that every connection has. */
  readonly settings?: Readonly<Record<string, string>>
}

/** As PostgreSQL shows our connections. */
export const APPLICATION = 'quoin'
export const STATEMENT_MS = 60_000
/** How long to wait for a connection. */
export const CONNECT_MS = 5_000
/** Longer than a session may be idle (see session-transaction.ts): only for transactions that a lost node left behind. */
const IDLE_TRANSACTION_MS = 15_000
const IDLE_CONNECTION_MS = 60_000

const INT8 = 20
const JSON_TYPE = 114

export function openPool({ url, most, pooled, statementMs, settings }: OpenPool): Pool {
  const all = {
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    jit: 'off',
    ...settings,
  }
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    // For a server that does not answer at all: its own timeout cannot reach us then.
    query_timeout: statementMs + 5_000,
    ...(!pooled && { options: options.join(' ') }),
    application_name: APPLICATION,
    types: { getTypeParser: (oid: number) => typeParser(oid) },
  })
  // Of a connection that is idle: the next statement gets another one, and if there is none it says so itself.
  pool.on('error', () => undefined)
  return pool
}

/** How a column of the type is read from its text. */
export function typeParser(oid: number): (text: string) => unknown {
  if (oid === INT8) return Number
  // Documents are sent as the text they are.
  if (oid === JSON_TYPE) return String
  return types.getTypeParser(oid, 'text')
}
