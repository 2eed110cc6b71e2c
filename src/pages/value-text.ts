/** Values of documents as plain text, for people. What does not fit its format is written as it is. */
import { isJsonObject, type JsonValue } from '../shared/json.ts'
import type { Tone } from '../shared/pages/page-content.ts'
import type { ValueFormat } from '../shared/value-format.ts'
import type { Drawing } from './drawing.ts'
import {
  formatDate,
  formatDateTime,
  formatNumber,
  formatRelative,
  readMoment,
  zoneOfValue,
} from './format.ts'

export interface ValueLook {
  readonly format: ValueFormat
  readonly currency?: string
  readonly href?: string
}

/** What writing a value needs to know. */
export type Writing = Pick<Drawing, 'say' | 'locale' | 'timeZone' | 'currency' | 'now'>

/** A longer text is cut in a list, with the whole in the document's own page. */
const LONGEST = 2_000

/** A whole number of four digits is more often a year than an amount: 1972, but 12,345. */
const whole = { useGrouping: 'min2' } as const

export function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** The text of a value: a date as the locale writes it, a file by its name. Blank values are a dash. */
export function valueText(value: JsonValue | undefined, look: ValueLook, writing: Writing): string {
  const { say, locale, now } = writing
  const zone = zoneOfValue(value ?? null, writing.timeZone)
  if (value === undefined || isBlank(value)) return say('value.none')
  switch (look.format) {
    case 'auto':
      if (typeof value === 'number') return formatNumber(value, locale, Number.isInteger(value) ? whole : {})
      return typeof value === 'boolean' ? truthText(value, writing) : asText(value)
    case 'boolean':
      return typeof value === 'boolean' ? truthText(value, writing) : asText(value)
    case 'number':
    case 'currency':
    case 'percent':
      return asNumber(value, (number) => formatNumber(number, locale, numberOptions(look, writing)))
    case 'date':
      return asMoment(value, (moment) => formatDate(moment, locale, zone))
    case 'date_time':
      return asMoment(value, (moment) => formatDateTime(moment, locale, zone))
    case 'relative_time':
      return asMoment(value, (moment) => formatRelative(moment, now, locale))
    case 'file':
      return fileName(value) ?? (addressOf(value) === '' ? asText(value) : say('value.open'))
    case 'json':
      return cut(JSON.stringify(value))
    default:
      return asText(value)
  }
}

function truthText(value: boolean, { say }: Writing): string {
  return say(value ? 'value.yes' : 'value.no')
}

function numberOptions({ format, currency }: ValueLook, writing: Writing): Intl.NumberFormatOptions {
  if (format === 'currency') return { style: 'currency', currency: currency ?? writing.currency }
  return format === 'percent' ? { style: 'percent', maximumFractionDigits: 1 } : {}
}

function asMoment(value: JsonValue, write: (moment: Date) => string): string {
  const moment = readMoment(value)
  return moment ? write(moment) : asText(value)
}

function fileName(value: JsonValue): string | undefined {
  return isJsonObject(value) && typeof value.name === 'string' ? value.name : undefined
}

export function asText(value: JsonValue): string {
  if (typeof value === 'string') return cut(value)
  if (Array.isArray(value)) return cut(value.map((one: JsonValue) => asText(one)).join(', '))
  return typeof value === 'object' ? cut(JSON.stringify(value)) : String(value)
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()} …`
}

/** The large figure of a card. */
export function figureText(
  { figure, format, currency }: { readonly figure: string } & Partial<ValueLook>,
  writing: Writing,
): string {
  if (format === undefined) return figure
  return valueText(figure, { format, ...(currency !== undefined && { currency }) }, writing)
}

function asNumber(value: JsonValue, write: (number: number) => string): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? write(number) : asText(value)
}

/** Of a file or an image: its address, however it is stored. */
export function addressOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return ''
  const { url, href } = value
  // `href` is what the door puts beside a stored file.
  return typeof href === 'string' ? href : typeof url === 'string' ? url : ''
}

/** States that are called so everywhere get the colour that is expected; a badge always has its word as well. */
const tones: ReadonlyMap<string, Tone> = new Map(
  (
    [
      ['success', 'done won active paid ok approved success completed live erledigt gewonnen aktiv bezahlt'],
      [
        'danger',
        'lost failed overdue blocked error rejected cancelled verloren überfällig gesperrt fehler abgelehnt',
      ],
      ['warning', 'pending waiting late draft high urgent wartend entwurf hoch dringend'],
      ['info', 'new open lead running progress proposal negotiation neu offen läuft angebot'],
    ] as const
  ).flatMap(([tone, words]) => words.split(' ').map((word) => [word, tone] as const)),
)

export function toneOf(value: JsonValue): Tone {
  return typeof value === 'string' ? (tones.get(value.trim().toLowerCase()) ?? 'neutral') : 'neutral'
}
