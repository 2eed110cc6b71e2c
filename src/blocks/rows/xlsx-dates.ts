/** Dates of spreadsheets: a number of days, and a style of the cell that shows it as a date. */
import type { XlsxParts } from './xlsx-parts.ts'
import { xmlEvents } from './xml-events.ts'

/** Day 0 of spreadsheets, in milliseconds. It counts a 29 February 1900 that never was: right from March 1900. */
const DAY_ZERO = Date.UTC(1899, 11, 30)
const DAY = 86_400_000
/** 9999-12-31. */
const LAST_DAY = 2_958_465

/** Formats of dates that every workbook has. */
function isBuiltIn(format: number): boolean {
  return (format >= 14 && format <= 22) || (format >= 45 && format <= 47)
}

/** The numbers of the styles that show a date. */
export async function dateStyles(parts: XlsxParts): Promise<ReadonlySet<number>> {
  const own = new Set<number>()
  const styles = new Set<number>()
  const part = parts.part('xl/styles.xml')
  if (!part) return styles
  let within = false
  let count = 0
  for await (const events of xmlEvents(part)) {
    for (const event of events) {
      if (event.kind === 'text') continue
      if (event.name === 'cellXfs') within = event.kind === 'open'
      if (event.kind !== 'open') continue
      const { numFmtId = '0', formatCode = '' } = event.attributes
      if (event.name === 'numFmt' && showsDate(formatCode)) own.add(Number(numFmtId))
      if (event.name !== 'xf' || !within) continue
      if (isBuiltIn(Number(numFmtId)) || own.has(Number(numFmtId))) styles.add(count)
      count += 1
    }
  }
  return styles
}

/** Text in quotes and brackets is shown as it is. */
function showsDate(format: string): boolean {
  return /[ymdhs]/i.test(format.slice(0, 1_000).replace(/"[^"]*"|\[[^[\]]*\]|\\./g, ''))
}

/** `2026-01-31`, or with a time `2026-01-31T12:00:00`; a number that is no day stays one. */
export function excelDate(days: number): string | number {
  if (days < 0 || days > LAST_DAY + 1) return days
  const text = new Date(DAY_ZERO + Math.round(days * 86_400) * 1_000).toISOString().slice(0, 19)
  return (days * DAY) % DAY === 0 ? text.slice(0, 10) : text
}
