/** Gives the table of a storage the trigger that notes what is written (`noted-writes.ts`). */
import { changing } from '../core/postgres-ensure.ts'
import { isLocked } from '../core/postgres-errors.ts'
import type { PostgresParts } from '../core/postgres-parts.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { beginLife } from './noted-writes.ts'

/** The trigger waits for transactions that have written to the table, and later ones wait behind it, no longer than this. */
const LOCK_MS = 200
/** From now on, all writes to the storage are noted, and all nodes know. false: long writes are in the way, or it is gone. */
export async function noteWrites(parts: PostgresParts, name: string): Promise<boolean> {
  await parts.catalogue.reload()
  const entry = parts.catalogue.find(name)
  if (entry === undefined || entry.noted) return entry !== undefined
  const { id, table } = entry
  try {
    await changing(parts, async (transaction) => {
      await transaction.script(`SET LOCAL lock_timeout = ${LOCK_MS}`)
      await refuseOtherNumbers(transaction)
      await transaction.script(
        `CREATE TRIGGER ${table}_noted AFTER INSERT OR DELETE OR UPDATE OF doc ON ${table}
          FOR EACH ROW EXECUTE FUNCTION quoin_note_write(${id})`,
      )
      // So that what is read next can be kept.
      await beginLife(transaction)
      await transaction.run('UPDATE storage SET noted = true WHERE id = $1', [id])
    })
    return true
  } catch (error) {
    if (isLocked(error)) return false
    throw error
  }
}

/** Databases that only speak PostgreSQL's language may number transactions otherwise, or not at all. */
async function refuseOtherNumbers(transaction: PostgresConnection): Promise<void> {
  const [row] = await transaction.rows(
    `SELECT pg_current_xact_id() >= pg_snapshot_xmin(pg_current_snapshot())
      AND NOT pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot()) AS ordinary`,
  )
  if (row?.ordinary !== true)
    throw new Error('This database does not number its transactions as PostgreSQL does.')
}
