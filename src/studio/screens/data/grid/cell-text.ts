/** What a cell shows, and what is copied from it. */
import { isCurrency } from '../../../../shared/fields/currencies.ts'
import type { FieldLimits } from '../../../../shared/fields/field-limits.ts'
import { placesOf } from '../../../../shared/fields/field-type.ts'
import { dateOf } from '../../../../shared/fields/value-forms.ts'
import { isFields } from '../documents/document-shape.ts'
import type { CellKind } from './grid-column.ts'

/** Characters of a cell: more is not seen, and a document may hold megabytes. */
const MOST_SHOWN = 300
const MOST_ITEMS = 50

interface CellType {
  readonly kind: CellKind
  readonly field: { readonly type: string; readonly validation_rules?: unknown } | undefined
}

export interface CellText {
  readonly text: string
  /** Shown when it is pointed at, where the text does not say all. */
  readonly exact?: string
}

/** In the language and time zone of the browser; `names`: of the documents that references name. */
export function cellText(
  { kind, field }: CellType,
  value: unknown,
  names?: ReadonlyMap<string, string>,
): CellText {
  if (value === undefined || value === null) return { text: '' }
  switch (kind) {
    case 'number':
      return typeof value === 'number' ? numberText(value, limitsOf(field)) : plain(value)
    case 'day':
      return dateText(value, { dateStyle: 'medium', timeZone: 'UTC' })
    case 'instant':
      return dateText(value, { dateStyle: 'medium', timeStyle: 'short' })
    case 'seconds':
      return isSeconds(value) ? dateText(value, { dateStyle: 'medium', timeStyle: 'short' }) : plain(value)
    case 'reference':
      return typeof value === 'string'
        ? { text: names?.get(value) ?? value.slice(0, 8), exact: value }
        : plain(value)
    case 'choices':
    case 'json':
      return isPlainList(value) ? plain(value.slice(0, MOST_ITEMS).join(', ')) : plain(value)
    case 'person':
      return isFields(value) ? { text: String(value.username ?? '') } : plain(value)
    default:
      return plain(value)
  }
}

/** As it is stored, so that pasting it gives the same value again. */
export function copiedText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A date and time in the time zone of the browser, as an input of the type `datetime-local` takes it. */
export function localMinutes(value: unknown): string {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) return ''
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16)
}

function isPlainList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.slice(0, MOST_ITEMS).every((item) => typeof item !== 'object')
}

function plain(value: unknown): CellText {
  const text = copiedText(value)
  return text.length > 60 ? { text: text.slice(0, MOST_SHOWN), exact: text.slice(0, 1000) } : { text }
}

/** 2026 is a year as often as it is a number: separators begin at 10,000. */
function numberText(value: number, limits: FieldLimits | undefined): CellText {
  const places = limits && placesOf(limits)
  const digits = places === undefined ? 12 : places
  const format = new Intl.NumberFormat(undefined, {
    useGrouping: 'min2',
    ...(limits?.currency !== undefined && {
      ...{ style: 'currency', currency: limits.currency, useGrouping: 'always' },
    }),
    maximumFractionDigits: digits,
    ...(places !== undefined && { minimumFractionDigits: digits }),
  })
  return { text: format.format(value), exact: String(value) }
}

/** Of a decimal; other numbers have as many places as they are written with. */
function limitsOf(field: CellType['field']): FieldLimits | undefined {
  if (field?.type !== 'decimal') return undefined
  const { places, currency } = isFields(field.validation_rules) ? field.validation_rules : {}
  return {
    ...(typeof places === 'number' && { places }),
    ...(typeof currency === 'string' && isCurrency(currency) && { currency }),
  }
}

function dateText(value: unknown, options: Intl.DateTimeFormatOptions): CellText {
  const at = typeof value === 'string' || typeof value === 'number' ? dateOf(value) : undefined
  if (at === undefined) return plain(value)
  return { text: new Date(at).toLocaleString(undefined, options), exact: String(value) }
}

/** Unix seconds between 2001 and 2065; anything else is a number. */
function isSeconds(value: unknown): boolean {
  return typeof value === 'number' && value > 1e9 && value < 3e9
}
