/**
 * A node's connections beside the pool: what PostgreSQL says on some channels, and its lease. LISTEN belongs to a connection,
 * so that one goes past a pooler. It may be lost at any time, and messages with it, so each listener also polls now and then.
 */
import { Client } from 'pg'
import { openPool, STATEMENT_MS } from '../core/open-pool.ts'
import { storageError } from '../core/postgres-errors.ts'
import type { PostgresConnection } from '../core/rows.ts'

export interface Notifications {
  close(): Promise<void>
}

const RETRY_MS = 500

/** `heard` is called with each message and its channel, and with undefined once it listens again after it did not. Never fails. */
export function openNotifications(
  url: string,
  channels: readonly string[],
  heard: (channel: string | undefined, message?: string) => void,
): Notifications {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let connecting: Promise<void> = Promise.resolve()

  function again(): void {
    client = undefined
    if (!closed) timer = setTimeout(connect, RETRY_MS)
  }

  function connect(): void {
    const next = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true })
    client = next
    let over = false
    const lost = () => {
      if (over) return
      over = true
      next.end().catch(() => undefined)
      again()
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', ({ channel, payload }) => heard(channel, payload))
    connecting = (async () => {
      await next.connect()
      // The names are our own constants.
      for (const channel of channels) await next.query(`LISTEN ${channel}`)
      heard(undefined)
    })().catch(lost)
  }

  connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      const last = client
      await connecting
      await last?.end().catch(() => undefined)
    },
  }
}

/**
 * The connection on which a node follows the changes and renews its lease, and nothing else: neither a long search nor
 * a write that waits keeps it. It goes past a pooler, as that for messages does.
 *
 * It writes also where `default_transaction_read_only` is on, which managed servers set while their disk is nearly full:
 * the lease is one row of a few hundred bytes, and without it the node could not even answer what it has in memory. On
 * a standby it cannot, so a node whose primary was demoted stops answering.
 */
interface LeaseConnection extends PostgresConnection {
  close(): Promise<void>
}

export function openLeaseConnection(url: string): LeaseConnection {
  const pool = openPool({
    url,
    most: 1,
    pooled: false,
    statementMs: STATEMENT_MS,
    settings: { default_transaction_read_only: 'off' },
  })

  async function ask(text: string, values: readonly unknown[] = []) {
    try {
      return await pool.query(text, [...values])
    } catch (error) {
      throw storageError(error)
    }
  }

  return {
    rows: async (text, values) => (await ask(text, values)).rows,
    run: async (text, values) => (await ask(text, values)).rowCount ?? 0,
    close: () => pool.end(),
  }
}
