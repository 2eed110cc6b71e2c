/** What the style of a cell makes of its number: a date is a number of days, and a postal code one with leading zeros. */
import { CsvProblem } from './csv-rows.ts'
import type { DateCell, DateFormat } from './xlsx-file.ts'
import type { XlsxParts } from './xlsx-parts.ts'
import { xmlEvents } from './xml-events.ts'

/** An instant is a date with milliseconds. A number is the digits that are shown at least. */
export type CellStyle = 'date' | 'instant' | 'time' | 'duration' | number

/** Day 0 of spreadsheets, in milliseconds. It counts a 29 February 1900 that never was: right from March 1900. */
const DAY_ZERO = Date.UTC(1899, 11, 30)
const DAY = 86_400_000
/** 9999-12-31. */
const LAST_DAY = 2_958_465
/** Days from day 0 to that of workbooks that begin with 1904, as Excel for Mac writes them. */
const DAYS_TO_1904 = 1_462

/** Formats that every workbook has; the later ones are those of East Asian programs. */
function builtIn(format: number): CellStyle | undefined {
  if ((format >= 14 && format <= 17) || format === 22 || (format >= 27 && format <= 31) || format === 36)
    return 'date'
  if (format >= 50 && format <= 58) return 'date'
  if ((format >= 18 && format <= 21) || format === 45 || format === 47) return 'time'
  if (format >= 32 && format <= 35) return 'time'
  return format === 46 ? 'duration' : undefined
}

/** Of a workbook, as Excel bounds them; and formats of numbers. */
const MOST_STYLES = 65_490

/** By their numbers. Throws CsvProblem for more than any program writes. */
export async function cellStyles(parts: XlsxParts): Promise<ReadonlyMap<number, CellStyle>> {
  const own = new Map<number, CellStyle>()
  const styles = new Map<number, CellStyle>()
  const part = parts.part('xl/styles.xml')
  if (!part) return styles
  let within = false
  let [count, formats] = [0, 0]
  for await (const events of xmlEvents(part)) {
    for (const event of events) {
      if (event.kind === 'text') continue
      if (event.name === 'cellXfs') within = event.kind === 'open'
      if (event.kind !== 'open') continue
      const { numFmtId = '0', formatCode = '' } = event.attributes
      if (event.name === 'numFmt') formats += 1
      if (Math.max(count, formats) >= MOST_STYLES) throw new CsvProblem(`has more than ${MOST_STYLES} styles`)
      const named = event.name === 'numFmt' ? styleOf(formatCode) : undefined
      if (named !== undefined) own.set(Number(numFmtId), named)
      if (event.name !== 'xf' || !within) continue
      const style = own.get(Number(numFmtId)) ?? builtIn(Number(numFmtId))
      if (style !== undefined) styles.set(count, style)
      count += 1
    }
  }
  return styles
}

/** Text in quotes and brackets is shown as it is, but for [h], [m] and [s], which count beyond a day. */
function styleOf(format: string): CellStyle | undefined {
  const shown = format.slice(0, 1_000).replace(/"[^"]*"|\\.|_.|\*./g, '')
  if (/\[(?:h+|m+|s+)\]/i.test(shown)) return 'duration'
  const plain = shown.replace(/\[[^[\]]*\]/g, '')
  if (/[yd]/i.test(plain)) return /s[.,]0+/i.test(plain) ? 'instant' : 'date'
  if (/[hs]/i.test(plain)) return 'time'
  if (/m/i.test(plain)) return 'date'
  return /^0{2,}$/.test(plain) ? plain.length : undefined
}

export interface CellNumber {
  readonly style: CellStyle
  /** Whether the workbook counts days from 1904. */
  readonly from1904: boolean
}

/**
 * `2026-01-31`, or with a time `2026-01-31T12:00:00`; a time of day `12:00:00`, a duration `30:00:00`, and digits with zeros in
 * front `00123`. A number that is no day stays one.
 */
export function styledNumber(value: number, { style, from1904 }: CellNumber): string | number {
  if (typeof style === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? String(value).padStart(style, '0') : value
  if (style === 'duration') return value >= 0 && value <= LAST_DAY ? clockText(value) : value
  if (style === 'time' && value >= 0 && value < 1) return clockText(value)
  const days = from1904 ? value + DAYS_TO_1904 : value
  return style === 'instant' ? excelInstant(days) : excelDate(days)
}

function clockText(days: number): string {
  const seconds = Math.round(days * 86_400)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
}

export function excelDate(days: number): string | number {
  if (days < 0 || days > LAST_DAY + 1) return days
  const text = new Date(DAY_ZERO + Math.round(days * 86_400) * 1_000).toISOString().slice(0, 19)
  return (days * DAY) % DAY === 0 ? text.slice(0, 10) : text
}

function excelInstant(days: number): string | number {
  if (days < 0 || days > LAST_DAY + 1) return days
  return new Date(DAY_ZERO + Math.round(days * DAY)).toISOString().slice(0, 23)
}

/** Days are counted right from March 1900. */
const FIRST_RIGHT = 61

/** The cell of a day such as 2026-01-31; undefined for another text, and for a day that spreadsheets do not know. */
export function dayCell(text: string): DateCell | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? dateCell(text, 'yyyy-mm-dd', text) : undefined
}

/** The cell of an instant in UTC, as a program writes it; undefined for another form, which would not be read as it was. */
export function instantCell(text: string): DateCell | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/.test(text)) return undefined
  const isExact = text.length === 24
  const full = isExact ? text : `${text.slice(0, 19)}.000Z`
  return dateCell(text, isExact ? 'yyyy-mm-dd hh:mm:ss.000' : 'yyyy-mm-dd hh:mm:ss', full)
}

/** `full`: as the same date is written again, so that 2026-02-30 is none. */
function dateCell(text: string, format: DateFormat, full: string): DateCell | undefined {
  const at = Date.parse(text)
  const days = (at - DAY_ZERO) / DAY
  if (!(days >= FIRST_RIGHT && days <= LAST_DAY + 1)) return undefined
  return new Date(at).toISOString().startsWith(full) ? { days, format } : undefined
}
