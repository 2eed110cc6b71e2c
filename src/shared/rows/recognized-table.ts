/** What can be recognised of a table that other programs wrote: its row of names, and how a column writes numbers and days. */

import type { Steps } from '../cooperative.ts'
import type { FieldRule } from '../field-rule.ts'
import { type FieldType, fieldTypeEntries } from '../fields/field-type.ts'
import { type TextDialect, valueOfText } from '../fields/value-of-text.ts'
import { type JsonValue, sameJson } from '../json.ts'

export type TableCell = string | number | boolean

export const columnFormats = ['point', 'comma', 'dmy', 'mdy', 'ymd'] as const
/** How the texts of a column write numbers or days. */
export type ColumnFormat = (typeof columnFormats)[number]

const ofNumbers = ['point', 'comma'] as const
const ofDays = ['dmy', 'mdy', 'ymd'] as const

export function dialectOfFormat(format: ColumnFormat): TextDialect {
  return format === 'point' || format === 'comma' ? { decimal: format } : { dates: format }
}

interface TableRow {
  /** From 1. */
  readonly line: number
  readonly cells: readonly TableCell[]
}

/** Rows among which the one of the names is looked for; a title has fewer lines. */
const MOST_BEFORE = 20

/**
 * The line of the row that names the columns: the first with texts that differ in most of the columns, behind lines of a title; one that
 * has names of fields where that has none. Undefined where there is no row.
 */
export function headerLine(
  rows: readonly TableRow[],
  isField: (text: string) => boolean,
): number | undefined {
  const widths = rows.map(({ cells }) => filled(cells).length).toSorted((a, b) => a - b)
  const usual = widths[Math.floor(widths.length / 2)] ?? 0
  const fitting = rows.slice(0, MOST_BEFORE).filter(({ cells }) => {
    const names = filled(cells)
    const isName = (cell: TableCell) => typeof cell === 'string' && !/^[\s\d.,:/-]+$/.test(cell)
    return (
      names.length >= usual * 0.6 &&
      names.filter(isName).length >= names.length * 0.6 &&
      new Set(names.map(String)).size === names.length
    )
  })
  const matches = ({ cells }: TableRow) => filled(cells).filter((cell) => isField(String(cell))).length
  const [first] = fitting
  if (first === undefined) return rows[0]?.line
  const atLeast = (row: TableRow) => Math.max(2, filled(row.cells).length / 2)
  const better = fitting.find((row) => matches(row) >= atLeast(row))
  return better && matches(first) === 0 ? better.line : first.line
}

function filled(cells: readonly TableCell[]): readonly TableCell[] {
  return cells.filter((cell) => String(cell).trim() !== '')
}

export interface FormatReading {
  readonly format: ColumnFormat
  readonly value: JsonValue
}

export interface RecognizedFormat {
  /** Undefined where the texts do not say it: 03/04/2026 may be in March or in April. */
  readonly format: ColumnFormat | undefined
  /** One of the texts, and what the formats make of it: null for nothing. Of those alone that can be meant, where it is open. */
  readonly sample: string
  readonly readings: readonly FormatReading[]
}

/** Longer texts are no numbers and no days. */
const LONGEST = 60

/** So many of the texts that tell formats apart must fit the one that is taken: the others are mistakes, which an import lists. */
const MOST_FITS = 0.9

interface Readable {
  readonly text: string
  readonly readings: readonly FormatReading[]
}

/**
 * How these texts of a column write the values of a field. Undefined where it does not matter: where each text means one thing, or none.
 * Time grows with the texts; the caller bounds how many there are.
 */
export function* recognizedFormat(
  target: Pick<FieldRule, 'type' | 'limits'>,
  texts: Iterable<string>,
): Steps<RecognizedFormat | undefined> {
  const formats = formatsOf(target)
  const telling: Readable[] = []
  if (formats.length > 0)
    for (const text of texts) {
      yield
      if (text.length > LONGEST || text.trim() === '') continue
      const readings = formats.flatMap((format) => readingOf(target, text, format))
      const [first] = readings
      if (first === undefined) continue
      if (readings.length < formats.length || !areSame(readings)) telling.push({ text, readings })
    }
  const [sample] = telling
  if (sample === undefined) return undefined
  const counts = formats.map((format) => telling.filter((one) => reads(one, format)).length)
  const most = Math.max(...counts)
  const best = formats.filter((_format, at) => counts[at] === most)
  const [format] = best
  if (best.length === 1 && most >= telling.length * MOST_FITS) {
    const shown = telling.find((one) => reads(one, format)) ?? sample
    return { format, sample: shown.text, readings: shown.readings }
  }
  const open = telling.find(({ readings }) => !areSame(readings)) ?? sample
  const offered = formats.filter((_format, at) => counts[at] !== 0)
  return { format: undefined, sample: open.text, readings: offered.map((one) => openReading(open, one)) }
}

function reads({ readings }: Readable, format: ColumnFormat | undefined): boolean {
  return readings.some((reading) => reading.format === format)
}

function areSame(readings: readonly FormatReading[]): boolean {
  return readings.every(({ value }) => sameJson(value, readings[0]?.value))
}

function openReading({ readings }: Readable, format: ColumnFormat): FormatReading {
  return readings.find((one) => one.format === format) ?? { format, value: null }
}

function formatsOf({ type, limits }: Pick<FieldRule, 'type' | 'limits'>): readonly ColumnFormat[] {
  const item: FieldType = limits.items ?? type
  if (fieldTypeEntries[item].value === 'number' && item !== 'autonumber') return ofNumbers
  return item === 'day' || item === 'instant' || item === 'date' ? ofDays : []
}

function readingOf(
  target: Pick<FieldRule, 'type' | 'limits'>,
  text: string,
  format: ColumnFormat,
): readonly FormatReading[] {
  const read = valueOfText(target, text, dialectOfFormat(format))
  if ('problem' in read || read.value === null) return []
  return fieldTypeEntries[target.type].problem(read.value, target.limits) === undefined
    ? [{ format, value: read.value }]
    : []
}
