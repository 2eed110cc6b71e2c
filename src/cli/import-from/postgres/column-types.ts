/** What a type of PostgreSQL is as a field, how its values are asked for as text, and how that is read. */
import type { FieldLimits, ItemType } from '../../../shared/fields/field-limits.ts'
import type { FieldType } from '../../../shared/fields/field-type.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { keepsDigits, readJson } from '../../../shared/numbers/exact-json.ts'
import type { CatalogColumn } from './catalog.ts'

export type ReadValue = { readonly value: JsonValue } | { readonly problem: string }

export interface ColumnReading {
  readonly type: FieldType
  readonly limits?: FieldLimits
  /** SQL that makes text of the column. */
  readonly asText: (column: string) => string
  readonly read: (text: string) => ReadValue
  /** What the field does not say of the column. */
  readonly unsaid?: string
}

/** Characters of one value: an import has no more of a row in memory than its columns times this. */
const MOST_CHARACTERS = 4_000_000
const MOST_PRECISION = 15
const MOST_PLACES = 10
const MOST_CHOICES = 500

const asIs = (column: string) => `${column}::text`
const bounded = (column: string) => `left(${column}::text, ${MOST_CHARACTERS + 1})`
const text = (value: string): ReadValue =>
  value.length > MOST_CHARACTERS
    ? { problem: `has more than ${MOST_CHARACTERS.toLocaleString('en-US')} characters` }
    : { value }

const texts: ColumnReading = { type: 'string', asText: bounded, read: text }
const numbers = { asText: asIs, read: numberOf } as const
const json = { asText: bounded, read: jsonOf } as const

function numberOf(written: string): ReadValue {
  const value = Number(written)
  if (!Number.isFinite(value)) return { problem: 'is not a number that Quoin has' }
  return keepsDigits(written) ? { value } : { problem: 'has more digits than a number keeps' }
}

function jsonOf(written: string): ReadValue {
  const size = text(written)
  return 'problem' in size ? size : readJson(written)
}

/** Of lists, by the type of their items. */
const items: Readonly<Record<string, ItemType>> = {
  ...{ _text: 'string', _varchar: 'string', _bpchar: 'string', _uuid: 'string', _name: 'string' },
  ...{ _int2: 'integer', _int4: 'integer', _int8: 'integer' },
  ...{ _numeric: 'number', _float4: 'number', _float8: 'number' },
  ...{ _bool: 'boolean', _date: 'day', _timestamptz: 'instant' },
}

const plainTexts = new Set(['text', 'varchar', 'bpchar', 'citext', 'name', 'uuid', 'char'])

export interface TypeContext {
  /** Of times without one. */
  readonly timeZone: string
  /** Kinds of JSON values that the column has, where it holds JSON. */
  readonly kinds: ReadonlySet<string>
  readonly isText: boolean
}

/** Undefined: the column is left out, and `unsaid` says why. */
export function columnReading(
  column: CatalogColumn,
  context: TypeContext,
): ColumnReading | { readonly unsaid: string; readonly type?: undefined } {
  const { type, written, labels, length, digits } = column
  if (context.isText) return texts
  if (type === 'tsvector') return { unsaid: 'is left out: it is made of other columns for a search' }
  if (type === 'bytea') return files(column.name)
  if (labels.length > 0) return choices(type, labels)
  if (plainTexts.has(type))
    return { ...texts, ...(length !== undefined && { limits: { max_length: length } }), ...trimmed(type) }
  if (type === 'int2' || type === 'int4' || type === 'int8') return { type: 'integer', ...numbers }
  if (type === 'numeric') return decimal(digits)
  if (type === 'float4' || type === 'float8') return { type: 'number', asText: asIs, read: floatOf }
  if (type === 'bool')
    return { type: 'boolean', asText: asIs, read: (value) => ({ value: value === 'true' }) }
  if (type === 'date') return { type: 'day', asText: asIs, read: text }
  if (type === 'timestamptz') return instant((name) => name)
  if (type === 'timestamp')
    return {
      ...instant((name) => `${name} AT TIME ZONE ${literal(context.timeZone)}`),
      unsaid: `has no time zone: it is read as a time of ${context.timeZone}. Say another one with --time-zone`,
    }
  if (type === 'json' || type === 'jsonb') return jsonColumn(context.kinds)
  const item = Object.hasOwn(items, type) ? items[type] : undefined
  if (item !== undefined) return list(type, item)
  if (type.startsWith('_'))
    return {
      type: 'array',
      ...json,
      asText: (name) => bounded(`array_to_json(${name}::text[])`),
      unsaid: `is a list of texts here, and ${written} in the source`,
    }
  return { ...texts, unsaid: `is text here, and ${written} in the source` }
}

/** Bytes have no name: it follows from the column and from what they are, so that other bytes are sent again. */
function files(column: string): ColumnReading {
  const stem = column.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60)
  return {
    type: 'file',
    asText: (name) => `octet_length(${name})::text || ' ' || md5(${name})`,
    read: (written) => {
      const { size, sum } = bytesOf(written)
      return { value: size === 0 ? null : `${stem}-${sum.slice(0, 12)}.bin` }
    },
    unsaid: 'holds bytes: each value becomes a file',
  }
}

/** Of what a column of bytes is asked for. */
export function bytesOf(written: string): { readonly size: number; readonly sum: string } {
  const [size = '', sum = ''] = written.split(' ')
  return { size: Number(size), sum }
}

function trimmed(type: string): Partial<ColumnReading> {
  return type === 'bpchar' ? { asText: (name) => bounded(`rtrim(${name}::text)`) } : {}
}

function choices(type: string, labels: readonly string[]): ColumnReading {
  if (labels.length > MOST_CHOICES)
    return { ...texts, unsaid: `is text here: it has more than ${MOST_CHOICES} choices` }
  const limits = { choices: labels }
  if (!type.startsWith('_')) return { type: 'choice', limits, asText: asIs, read: text }
  return { type: 'choices', limits, read: jsonOf, asText: (name) => `array_to_json(${name}::text[])::text` }
}

/** Up to 15 digits are exact in each number; of others each value is looked at. */
function decimal(digits: CatalogColumn['digits']): ColumnReading {
  if (!digits || digits.precision > MOST_PRECISION || digits.scale < 0 || digits.scale > MOST_PLACES)
    return { type: 'number', ...numbers }
  if (digits.scale === 0) return { type: 'integer', ...numbers }
  return { type: 'decimal', limits: { places: digits.scale }, ...numbers }
}

/** PostgreSQL writes the shortest text that means the number. */
function floatOf(written: string): ReadValue {
  const value = Number(written)
  return Number.isFinite(value) ? { value } : { problem: 'is not a number that Quoin has' }
}

/** In ISO 8601 with milliseconds; years behind 9999 and infinity are no instants of Quoin. */
function instant(at: (column: string) => string): ColumnReading {
  return {
    type: 'instant',
    asText: (name) => {
      const time = `(${at(name)})`
      const format = `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      return `CASE WHEN isfinite(${time}) AND extract(year FROM ${time} AT TIME ZONE 'UTC') BETWEEN 1 AND 9999 THEN ${format} ELSE ${time}::text END`
    },
    read: text,
  }
}

function jsonColumn(kinds: ReadonlySet<string>): ColumnReading {
  const [kind, ...others] = kinds
  if (others.length > 0)
    return { ...texts, unsaid: 'is text here: its values are not all objects, or all lists' }
  if (kind === undefined || kind === 'object') return { type: 'object', ...json }
  if (kind === 'array') return { type: 'array', ...json }
  return { ...texts, unsaid: 'is text here: its values are no objects and no lists' }
}

function list(type: string, item: ItemType): ColumnReading {
  const isInstant = type === '_timestamptz'
  return {
    type: 'list',
    limits: { items: item },
    asText: (name) => bounded(`array_to_json(${name})`),
    read: (written) => {
      const read = jsonOf(written)
      if (!isInstant || 'problem' in read || !Array.isArray(read.value)) return read
      return { value: read.value.map(storedInstant) }
    },
  }
}

/** A time that no instant can be, such as infinity, stays the text that it is, and is refused with its row. */
function storedInstant(value: JsonValue): JsonValue {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? value : new Date(at).toISOString()
}

/** A name of the catalog as SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
