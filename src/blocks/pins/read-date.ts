import { readIsoDate } from '../../shared/dates/iso-date.ts'

/** At this size a number is taken for milliseconds: as seconds it would be the year 5138. */
const MILLISECONDS_FROM = 1e11

/** A Date, ISO 8601 text (UTC when it names no zone), or Unix seconds; undefined for anything else. */
export function readDate(value: unknown): Date | undefined {
  if (value instanceof Date) return valid(value)
  if (typeof value === 'number')
    return valid(new Date(Math.abs(value) >= MILLISECONDS_FROM ? value : value * 1000))
  if (typeof value !== 'string') return undefined
  const milliseconds = readIsoDate(value.trim())
  return milliseconds === undefined ? undefined : new Date(milliseconds)
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date
}
