/** Forms of text and of numbers that types of fields ask for. */

import { readIsoDate } from '../dates/dates.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import { isEmailAddress } from '../mail/mail.ts'

/** Every version: other systems make other ones than Quoin does. */
const GUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** As mail servers bound them. */
const LONGEST_EMAIL = 320
const LONGEST_URL = 10_000
/** Signs that people write between the digits; an extension is digits as well. */
const PHONE = /^\+?[\d ()./-]{3,40}$/
const ZONED = /^[\d-]{10}[Tt ]\d{2}:\d{2}[\d:.]*(?:[Zz]|[+-]\d{2}:\d{2})$/

export function isGuidText(value: unknown): value is string {
  return typeof value === 'string' && GUID.test(value)
}

export function isEmail(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_EMAIL && isEmailAddress(value)
}

/** Of the web: http or https. */
export function isUrl(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_URL || /\s/.test(value)) return false
  return ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')
}

export function isPhone(value: JsonValue): boolean {
  if (typeof value !== 'string' || !PHONE.test(value)) return false
  const digits = value.replace(/\D/g, '').length
  return digits >= 3 && digits <= 20
}

/** Midnight UTC of `2026-01-31`, in milliseconds. */
export function dayOf(value: JsonValue): number | undefined {
  return typeof value === 'string' && value.length === 10 ? readIsoDate(value) : undefined
}

/** Milliseconds of ISO 8601 text with time and time zone. */
export function instantOf(value: JsonValue): number | undefined {
  return typeof value === 'string' && ZONED.test(value) ? readIsoDate(value) : undefined
}

/** Milliseconds since 1970: of ISO 8601 text, or of a number that is Unix seconds. */
export function dateOf(value: JsonValue): number | undefined {
  if (typeof value === 'number') return value * 1000
  return typeof value === 'string' ? readIsoDate(value) : undefined
}

export function numberOf(value: JsonValue): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Whether the number has no more digits after the point, and is exact as a whole number of the last of them. */
export function isDecimal(value: JsonValue, places: number): boolean {
  if (typeof value !== 'number' || Math.abs(value) * 10 ** places > Number.MAX_SAFE_INTEGER) return false
  return Number(value.toFixed(places)) === value
}

/** An uploaded file, as forms store it: `{ guid, name, type, size }`. */
export function isFile(value: JsonValue): boolean {
  return isJsonObject(value) && isGuidText(value.guid)
}
