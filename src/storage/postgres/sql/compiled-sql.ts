/** How values stand in SQL for PostgreSQL, which numbers them over the whole statement. */
import type { CompiledSql, SqlValue } from '../../search/compiled-sql.ts'
import type { PostgresConnection, Row } from '../core/rows.ts'

/**
 * Stands for a number until the statement is whole. Nothing else can hold this character: a field name with a control
 * character is refused, and values are never text of a statement.
 */
const PLACE = '\u0001'

export function value(parameter: SqlValue): CompiledSql {
  return { sql: PLACE, parameters: [parameter] }
}

/** Many texts as one parameter, so that a statement's text does not change with their number. */
export function texts(list: readonly string[]): CompiledSql {
  return { sql: `${PLACE}::text[]`, parameters: [arrayLiteral(list)] }
}

/** Many numbers as one parameter. */
export function numbers(list: readonly number[], type: 'bigint' | 'float8'): CompiledSql {
  return { sql: `${PLACE}::${type}[]`, parameters: [`{${list.join(',')}}`] }
}

/** A whole statement: its text, with $1, $2 …, and its values. */
export function statement(compiled: CompiledSql): { text: string; values: SqlValue[] } {
  let number = 0
  return {
    text: compiled.sql.replaceAll(PLACE, () => `$${++number}`),
    values: [...compiled.parameters],
  }
}

/** The row of a statement that always gives one. */
export async function oneRow(connection: PostgresConnection, requested: CompiledSql): Promise<Row> {
  const { text, values } = statement(requested)
  const [row] = await connection.rows(text, values)
  if (!row) throw new TypeError('The statement gave no row.')
  return row
}

function arrayLiteral(list: readonly string[]): string {
  return `{${list.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
