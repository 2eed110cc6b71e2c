/** The columns of an aggregate's values: of groups of documents, and of groups of such groups. */

import { decimalOf } from '../../../shared/numbers/decimal.ts'
import type { Measure } from '../../aggregate/aggregate.ts'
import type { Cell } from '../../aggregate/finish-aggregate.ts'
import { numberOf, type Row, textOf } from '../core/rows.ts'

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

/** `json`: what the field is read as; undefined: documents are counted. */
export function cellColumns(json: string | undefined, { figure }: Measure, at: number): CellColumn[] {
  const counted = (name: string, of: string): CellColumn => ({ name, of, merged: `sum(${name})::bigint` })
  if (json === undefined) return [counted(`c${at}`, 'count(*)')]
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
        {
          name: `c${at}`,
          of: `sum(CASE WHEN ${type} = 'number' THEN (${text})::numeric END)`,
          merged: `sum(c${at})`,
          sent: (sum) => `coalesce(${sum}, 0)::text`,
        },
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
      if (number !== null) return numberOf(row, `n${at}`)
      return cell === null ? null : textOf(row, `c${at}`)
    case 'max':
      if (cell !== null) return textOf(row, `c${at}`)
      return number === null ? null : numberOf(row, `n${at}`)
  }
}
