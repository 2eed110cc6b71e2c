/**
 * The connection on which a node follows the changes and renews its lease, and nothing else: neither a long search nor
 * a write that waits keeps it. It goes past a pooler, as that for messages does.
 *
 * It writes also where `default_transaction_read_only` is on, which managed servers set while their disk is nearly full:
 * the lease is one row of a few hundred bytes, and without it the node could not even answer what it has in memory. On
 * a standby it cannot, so a node whose primary was demoted stops answering.
 */
import { openPool, STATEMENT_MS } from '../core/open-pool.ts'
import { storageError } from '../core/postgres-errors.ts'
import type { PostgresConnection } from '../core/rows.ts'

export interface LeaseConnection extends PostgresConnection {
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
