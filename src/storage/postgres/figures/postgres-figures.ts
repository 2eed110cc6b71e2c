import type { DatabaseFigures } from '../../capabilities.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { numberOf, type Row } from '../core/rows.ts'

/** The log is told to members of `pg_monitor` only. */
const asked = `
  SELECT pg_database_size(current_database()) AS size, xact_commit AS commits, blks_hit AS hits, blks_read AS misses,
    CASE WHEN has_function_privilege('pg_ls_waldir()', 'execute')
      THEN (SELECT sum(size) FROM pg_ls_waldir())::int8 END AS log
  FROM pg_stat_database WHERE datname = current_database()`

export async function postgresFigures(pool: PostgresPool): Promise<DatabaseFigures> {
  const [row = {}] = await pool.reading.rows(asked)
  return {
    sizeBytes: numberOf(row, 'size'),
    logBytes: logOf(row),
    commits: numberOf(row, 'commits'),
    connections: pool.connections(),
    cache: { hits: numberOf(row, 'hits'), misses: numberOf(row, 'misses') },
  }
}

function logOf(row: Row): number | null {
  return row.log === null ? null : numberOf(row, 'log')
}
