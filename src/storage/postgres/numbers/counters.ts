/** Counters: raised outside the transactions of documents, which would else wait for each other from here to their ends. */
import { counterName, countersOf, type NumberRequest } from '../../claims.ts'
import { numberOf, type PostgresConnection } from '../core/rows.ts'

/** The first of the numbers, which are in a row. What they were taken for may fail: then they are left out. */
export async function takeNumbers(
  connection: PostgresConnection,
  storage: string,
  field: string,
  { count, from }: NumberRequest,
): Promise<number> {
  const name = counterName(storage, field)
  const [row] = await connection.rows('SELECT quoin_count($1, $2, $3) AS last', [name, count, from - 1])
  return numberOf(row ?? {}, 'last') - count + 1
}

/** Of a storage that is dropped. */
export async function forgetCounters(connection: PostgresConnection, storage: string): Promise<void> {
  await connection.run('DELETE FROM counter WHERE starts_with(name, $1)', [countersOf(storage)])
}
