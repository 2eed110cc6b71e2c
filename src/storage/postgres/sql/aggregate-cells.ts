/** The columns of an aggregate's values: of groups of documents, and of groups of such groups. */

import { decimalOf } from '../../../shared/numbers/decimal.ts'
import type { Measure } from '../../aggregate/aggregate.ts'
import type { Cell } from '../../aggregate/finish-aggregate.ts'
import { numberOf, type Row, textOf } from '../core/rows.ts'
import { AFTER_NUMBERS, FIRST_LIST, FIRST_TEXT, numberOfKey } from './field-sql.ts'

/** `c0`, `c1` … are the cells of the values, `n0`, `n1` … their numbers. */
export interface CellColumn {
  readonly name: string
  /** Over documents. */
  readonly of: string
  /** Over what `of` has given for parts of them; undefined: it has to be over documents. */
  readonly merged: string | undefined
  /** What is sent. */
  readonly sent?: (figure: string) => string
}

/** A column of documents that figures are of: JSON, or a key and, where that is one of a number, the number. */
export type MeasuredColumn =
  | { readonly kind: 'json'; readonly read: string }
  | { readonly kind: 'key'; readonly read: string; readonly number: string }

/** `column`: what the field is read as; undefined: documents are counted. */
export function cellColumns(
  column: MeasuredColumn | undefined,
  { figure }: Measure,
  at: number,
): CellColumn[] {
  if (column === undefined) return [counted(`c${at}`, 'count(*)')]
  if (column.kind === 'key') return keyCells(column, figure, at)
  const { read: json } = column
  const type = `json_typeof(${json})`
  const text = `${json} #>> '{}'`
  switch (figure) {
    case 'count':
      return [counted(`c${at}`, `count(*) FILTER (WHERE ${type} <> 'null')`)]
    case 'distinct': {
      const scalars = `FILTER (WHERE ${isScalar(json)})`
      return [
        { name: `c${at}`, of: `count(DISTINCT ${json}::text COLLATE "C") ${scalars}`, merged: undefined },
      ]
    }
    case 'sum':
    case 'average':
      return [
        summed(`c${at}`, `sum(CASE WHEN ${type} = 'number' THEN (${text})::numeric END)`),
        counted(`n${at}`, `count(*) FILTER (WHERE ${type} = 'number')`),
      ]
    case 'min':
    case 'max': {
      const number = `CASE ${type} WHEN 'number' THEN (${text})::float8 WHEN 'boolean' THEN CASE WHEN ${text} = 'true' THEN 1 ELSE 0 END END`
      return [
        { name: `n${at}`, of: `${figure}(${number})`, merged: `${figure}(n${at})` },
        {
          name: `c${at}`,
          of: `${figure}(${text} COLLATE "C") FILTER (WHERE ${type} = 'string')`,
          merged: `${figure}(c${at} COLLATE "C")`,
        },
      ]
    }
  }
}

function counted(name: string, of: string): CellColumn {
  return { name, of, merged: `sum(${name})::bigint` }
}

function summed(name: string, of: string): CellColumn {
  return { name, of, merged: `sum(${name})`, sent: (sum) => `coalesce(${sum}, 0)::text` }
}

function keyCells(
  { read, number }: Extract<MeasuredColumn, { kind: 'key' }>,
  figure: Measure['figure'],
  at: number,
): CellColumn[] {
  const [c, n] = [`c${at}`, `n${at}`]
  const isList = `${read} >= '${FIRST_LIST}'`
  switch (figure) {
    case 'count':
      return [counted(c, `count(${read})`)]
    case 'distinct': {
      const others = `count(DISTINCT ${read}) FILTER (WHERE ${number} IS NULL AND NOT ${isList})`
      const of = `(${others} + count(DISTINCT ${read}) FILTER (WHERE ${number} IS NOT NULL))`
      return [{ name: c, of, merged: undefined }]
    }
    case 'sum':
    case 'average':
      return [summed(c, `sum(${number})`), counted(n, `count(${number})`)]
    case 'min':
    case 'max': {
      const isText = `${read} >= '${FIRST_TEXT}' AND NOT ${isList}`
      return [
        {
          name: n,
          of: `${figure}(${read}) FILTER (WHERE ${read} < '${AFTER_NUMBERS}')`,
          merged: `${figure}(${n})`,
        },
        {
          name: c,
          of: `${figure}(${read}) FILTER (WHERE ${isText})`,
          merged: `${figure}(${c})`,
          sent: (key) => `substr(${key}, 2)`,
        },
      ]
    }
  }
}

export function isScalar(json: string): string {
  return `json_typeof(${json}) IN ('string', 'number', 'boolean')`
}

export function cellOf(row: Row, { figure, field }: Measure, at: number): Cell {
  const [cell, number] = [row[`c${at}`], row[`n${at}`]]
  if (field === undefined) return numberOf(row, `c${at}`)
  switch (figure) {
    case 'count':
    case 'distinct':
      return numberOf(row, `c${at}`)
    case 'sum':
    case 'average':
      return { sum: decimalOf(textOf(row, `c${at}`)), numbers: numberOf(row, `n${at}`) }
    case 'min':
      if (number !== null) return extreme(row, `n${at}`)
      return cell === null ? null : textOf(row, `c${at}`)
    case 'max':
      if (cell !== null) return textOf(row, `c${at}`)
      return number === null ? null : extreme(row, `n${at}`)
  }
}

/** A number, or the key of one. */
function extreme(row: Row, name: string): number {
  const value = row[name]
  return typeof value === 'string' && value.startsWith('n') ? numberOfKey(value) : numberOf(row, name)
}
