/** An aggregate on a connection. */

import { add, type Decimal, DecimalSum, ZERO } from '../../../shared/numbers/decimal.ts'
import { type Aggregate, type Measure, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import {
  type Aggregated,
  type Cell,
  finishAggregate,
  type GroupKey,
  tooManyGroups,
} from '../../aggregate/finish-aggregate.ts'
import type { CompiledSql } from '../../search/compiled-sql.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { isIntegerOverflow } from '../core/sqlite-errors.ts'
import { type AggregateSql, booleansAsNumbers, compileAggregate, HIGH, PLACES } from './aggregate-sql.ts'
import type { Indexes } from './covering-index.ts'
import type { SearchTarget } from './sql-values.ts'

type ReadKeys = (row: Row) => GroupKey[]
type ReadSum = (row: Row) => Decimal

/** Throws INVALID_QUERY. All of its statements have to see one state of the database. `indexes`: see `compileAggregate`. */
export function aggregateDocuments(
  connection: SqliteConnection,
  target: SearchTarget,
  aggregate: Aggregate,
  indexes?: Indexes,
): Aggregated {
  checkAggregate(aggregate)
  const compiled = compileAggregate(target, aggregate, indexes)
  const rows = readGroups(connection, compiled)
  if (rows.length > MOST_GROUPS) return tooManyGroups
  const readKeys = keyReader(target, aggregate)
  const readCells = aggregate.values.map((measure, at): ((row: Row) => Cell) => {
    if (measure.figure !== 'sum' && measure.figure !== 'average') return (row) => cellOf(row, at)
    const sum = rows.every((row) => row[`c${at}`] !== null)
      ? (row: Row) => ({ digits: BigInt(textOf(row, `c${at}`)), places: PLACES })
      : exactSums(connection, compiled, measure, readKeys)
    return (row) => ({ sum: sum(row), numbers: numberOf(row, `n${at}`) })
  })
  return finishAggregate(
    aggregate,
    rows.map((row) => ({ keys: readKeys(row), cells: readCells.map((read) => read(row)) })),
  )
}

function readGroups(connection: SqliteConnection, compiled: AggregateSql): readonly Row[] {
  const all = ({ sql, parameters }: CompiledSql) => connection.all(sql, ...parameters)
  try {
    return all(compiled.groups(true))
  } catch (error) {
    if (!isIntegerOverflow(error)) throw error
    return all(compiled.groups(false))
  }
}

/** Sums of all groups: of the numbers that fit as SQLite adds them, and the others one by one. */
function exactSums(
  connection: SqliteConnection,
  compiled: AggregateSql,
  measure: Measure,
  readKeys: ReadKeys,
): ReadSum {
  const keyOf = (row: Row) => JSON.stringify(readKeys(row))
  const others = new Map<string, DecimalSum>()
  const unfitting = compiled.unfitting(measure)
  for (const row of connection.each(unfitting.sql, ...unfitting.parameters)) {
    const key = keyOf(row)
    const sum = others.get(key) ?? new DecimalSum()
    others.set(key, sum)
    sum.add(numberOf(row, 'x'))
  }
  const fitting = compiled.fitting(measure)
  const sums = new Map(
    connection.all(fitting.sql, ...fitting.parameters).map((row) => {
      const digits = BigInt(textOf(row, 'high')) * HIGH + BigInt(textOf(row, 'low'))
      const key = keyOf(row)
      return [key, add({ digits, places: PLACES }, others.get(key)?.value ?? ZERO)] as const
    }),
  )
  return (row) => sums.get(keyOf(row)) ?? ZERO
}

function keyReader(target: SearchTarget, { groups }: Aggregate): ReadKeys {
  const readers = groups.map(({ field, part, ranges }, at): ((row: Row) => GroupKey) => {
    const column = `k${at}`
    const isBoolean = part === undefined && ranges === undefined && booleansAsNumbers(target, field)
    return (row) => {
      const key = row[column]
      if (key instanceof Uint8Array) return key[0] === 1
      if (key === null || typeof key === 'string') return key
      const number = numberOf(row, column)
      return isBoolean ? number === 1 : number
    }
  })
  return (row) => readers.map((read) => read(row))
}

function cellOf(row: Row, at: number): Cell {
  const cell = row[`c${at}`]
  if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell
  throw new TypeError('A figure is a number or a text.')
}
