/**
 * Jobs with one order key run one after the other. Of those that are live exactly one is not held: the one that may run,
 * or is running. The call that ends it lets the next one go; so finding a job that may run costs the same however many wait.
 */
import type { SqliteConnection } from '../core/sqlite-connection.ts'

const LIVE = `state IN ('waiting', 'running')`

/** 1 when a live job has the key already: a new one has to wait for it. */
export function heldBehind(connection: SqliteConnection, orderKey: string | null): 0 | 1 {
  if (orderKey === null) return 0
  return connection.get(`SELECT 1 FROM job WHERE order_key = ? AND ${LIVE} LIMIT 1`, orderKey) ? 1 : 0
}

/** After the one that was not held is no longer live. True when another may run now. */
export function letNextGo(connection: SqliteConnection, orderKey: unknown): boolean {
  if (typeof orderKey !== 'string') return false
  const next = connection.get(
    `UPDATE job SET held = 0 WHERE id = (SELECT min(id) FROM job WHERE order_key = ? AND ${LIVE}) RETURNING id`,
    orderKey,
  )
  return next !== undefined
}
