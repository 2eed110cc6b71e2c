/**
 * The types of fields: one entry each, from which follow the check of a value, the limits that a field may have, what the
 * API document says, what expressions know, how imports read it, the input of a form with its messages, and the cell of a grid.
 */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { InputType } from '../pages/page-input.ts'
import { isOneLine, ONE_LINE, ONE_LINE_PATTERN } from '../texts/one-line.ts'
import { placesOfCurrency } from './currencies.ts'
import { type FieldLimits, type ItemType, itemTypes } from './field-limits.ts'
import {
  dateOf,
  dayOf,
  instantOf,
  isDecimal,
  isEmail,
  isFile,
  isGuidText,
  isPhone,
  isUrl,
  numberOf,
} from './value-forms.ts'

export type FieldCell =
  | 'text'
  | 'area'
  | 'number'
  | 'condition'
  | 'choice'
  | 'choices'
  | 'day'
  | 'instant'
  | 'reference'
  | 'files'
  | 'person'
  | 'json'

type FieldMessage =
  | 'text'
  | 'one_line'
  | 'number'
  | 'integer'
  | 'places'
  | 'condition'
  | 'date'
  | 'instant'
  | 'choice'
  | 'email'
  | 'url'
  | 'phone'
  | 'pattern'
  | 'object'
  | 'list'
  | 'reference'
  | 'file'

export interface FieldTypeEntry {
  /** For people. */
  readonly label: string
  /** What is wrong with a value that is not null, in words that finish "<field> …". */
  problem(value: JsonValue, limits: FieldLimits): string | undefined
  /** What `min` and `max` compare. */
  readonly at?: (value: JsonValue) => number | undefined
  readonly limits: readonly (keyof FieldLimits)[]
  /** Without it the type says nothing. */
  readonly needs?: keyof FieldLimits
  /** JSON Schema of a value. */
  schema(limits: FieldLimits): JsonSchema
  /** What expressions take it for. */
  readonly value: 'text' | 'number' | 'condition' | 'object' | 'list' | 'any'
  /** The input of a form that draws what it likes. */
  readonly input: Exclude<InputType, 'auto'>
  /** Quoin writes it, and replaces what is sent for it. */
  readonly automatic?: true
  /** How the grid of the studio shows and edits a value. */
  readonly cell: FieldCell
  /** The sentence of a page for a form's text that is no value of the type: a key of `src/pages/messages`. */
  readonly message: `field.${FieldMessage}`
  /** How a form's text, or a cell of an imported file, is read. */
  readonly read: 'text' | 'number' | 'condition' | 'date' | 'instant' | 'lines' | 'json'
}

export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly JsonValue[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

const USUAL_PLACES = 2
export const MOST_PLACES = 10

/** Places of a decimal: those of its currency where its field does not say. */
export function placesOf({ places, currency }: FieldLimits): number {
  return places ?? (currency === undefined ? USUAL_PLACES : placesOfCurrency(currency))
}

const lengths = ['min_length', 'max_length'] as const
const range = ['min', 'max'] as const

const text = {
  problem: (value: JsonValue) => (typeof value === 'string' ? undefined : 'must be text'),
  limits: [...lengths, 'pattern', 'choices'],
  schema: () => ({ type: 'string' }),
  value: 'text',
  input: 'text',
  cell: 'text',
  message: 'field.text',
  read: 'text',
} as const satisfies Omit<FieldTypeEntry, 'label'>

/** Who wrote: `{ guid, username }`. */
const person = {
  problem: (value: JsonValue) =>
    isJsonObject(value) && typeof value.guid === 'string' && typeof value.username === 'string'
      ? undefined
      : 'must be a user: an object with guid and username',
  limits: [],
  schema: () => ({
    type: 'object',
    properties: { guid: { type: 'string' }, username: { type: 'string' } },
    required: ['guid', 'username'],
  }),
  value: 'object',
  input: 'text',
  cell: 'person',
  message: 'field.object',
  read: 'json',
  automatic: true,
} as const satisfies Omit<FieldTypeEntry, 'label'>

const file = { type: 'object', properties: { guid: { type: 'string' } }, required: ['guid'] } as const

/** Text of a form that can be told: what it is instead is said with an example. */
function form(label: string, fits: (value: JsonValue) => boolean, problem: string, format: string) {
  return {
    ...text,
    label,
    problem: (value: JsonValue) => (fits(value) ? undefined : problem),
    limits: [...lengths, 'pattern'],
    schema: () => ({ type: 'string', format }),
  } as const satisfies FieldTypeEntry
}

/** The first six are those of the first version, and keep their meaning. */
const entries = {
  string: { ...text, label: 'Text' },
  number: {
    label: 'Number',
    problem: (value) => (typeof value === 'number' ? undefined : 'must be a number'),
    at: numberOf,
    limits: [...range, 'choices'],
    schema: () => ({ type: 'number' }),
    value: 'number',
    input: 'number',
    cell: 'number',
    message: 'field.number',
    read: 'number',
  },
  boolean: {
    label: 'Yes or no',
    problem: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
    limits: [],
    schema: () => ({ type: 'boolean' }),
    value: 'condition',
    input: 'check',
    cell: 'condition',
    message: 'field.condition',
    read: 'condition',
  },
  object: {
    label: 'Object',
    problem: (value) => (isJsonObject(value) ? undefined : 'must be an object'),
    limits: [],
    schema: () => ({ type: 'object' }),
    value: 'object',
    input: 'area',
    cell: 'json',
    message: 'field.object',
    read: 'json',
  },
  array: {
    label: 'List of anything',
    problem: listProblem,
    limits: [...lengths, 'choices'],
    schema: ({ choices }) => ({ type: 'array', ...(choices && { items: { enum: choices } }) }),
    value: 'list',
    input: 'area',
    cell: 'json',
    message: 'field.list',
    read: 'lines',
  },
  date: {
    label: 'Date, or date and time',
    problem: (value) =>
      dateOf(value) === undefined ? 'must be a date such as 2026-01-31 or 2026-01-31T09:00Z' : undefined,
    at: dateOf,
    limits: range,
    // ISO 8601 text or Unix seconds.
    schema: () => ({ type: ['string', 'number'] }),
    value: 'any',
    input: 'date',
    cell: 'text',
    message: 'field.date',
    read: 'date',
  },
  line: {
    ...text,
    label: 'One line',
    problem: (value) =>
      typeof value !== 'string' ? 'must be text' : isOneLine(value) ? undefined : ONE_LINE,
    schema: () => ({ type: 'string', pattern: ONE_LINE_PATTERN }),
    input: 'line',
    message: 'field.one_line',
  },
  long_text: { ...text, label: 'Long text', limits: [...lengths, 'pattern'], input: 'area', cell: 'area' },
  integer: {
    label: 'Whole number',
    problem: (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number'),
    at: numberOf,
    limits: [...range, 'choices'],
    schema: () => ({ type: 'integer' }),
    value: 'number',
    input: 'number',
    cell: 'number',
    message: 'field.integer',
    read: 'number',
  },
  decimal: {
    label: 'Decimal',
    problem(value, limits) {
      const places = placesOf(limits)
      return isDecimal(value, places)
        ? undefined
        : `must be a number with at most ${places} decimal ${places === 1 ? 'place' : 'places'}`
    },
    at: numberOf,
    limits: [...range, 'places', 'currency'],
    schema: () => ({ type: 'number' }),
    value: 'number',
    input: 'number',
    cell: 'number',
    message: 'field.places',
    read: 'number',
  },
  day: {
    ...text,
    label: 'Date',
    problem: (value) => (dayOf(value) === undefined ? 'must be a day such as 2026-01-31' : undefined),
    at: dayOf,
    limits: range,
    schema: () => ({ type: 'string', format: 'date' }),
    input: 'date',
    cell: 'day',
    message: 'field.date',
    read: 'date',
  },
  instant: {
    ...text,
    label: 'Date and time',
    problem: (value) =>
      instantOf(value) === undefined
        ? 'must be a time with a time zone such as 2026-01-31T09:00:00Z'
        : undefined,
    at: instantOf,
    limits: range,
    schema: () => ({ type: 'string', format: 'date-time' }),
    input: 'date_time',
    cell: 'instant',
    message: 'field.instant',
    read: 'instant',
  },
  choice: {
    ...text,
    label: 'Choice',
    problem: (value) =>
      typeof value === 'string' || typeof value === 'number' ? undefined : 'must be one of its choices',
    limits: ['choices'],
    needs: 'choices',
    schema: ({ choices = [] }) => ({ enum: choices }),
    value: 'any',
    input: 'choice',
    cell: 'choice',
    message: 'field.choice',
  },
  choices: {
    label: 'Several choices',
    problem: listProblem,
    limits: [...lengths, 'choices'],
    needs: 'choices',
    schema: ({ choices = [] }) => ({ type: 'array', items: { enum: choices } }),
    value: 'list',
    input: 'choices',
    cell: 'choices',
    message: 'field.choice',
    read: 'lines',
  },
  email: {
    ...form('E-mail address', isEmail, 'must be an e-mail address such as ann@example.com', 'email'),
    input: 'email',
    message: 'field.email',
  },
  url: {
    ...form('Web address', isUrl, 'must be a web address such as https://example.com', 'uri'),
    message: 'field.url',
  },
  phone: {
    ...form('Phone number', isPhone, 'must be a phone number such as +49 30 123456', 'phone'),
    message: 'field.phone',
  },
  reference: {
    ...form('Reference', isGuidText, 'must be the guid of a document', 'uuid'),
    limits: [],
    cell: 'reference',
    message: 'field.reference',
  },
  file: {
    label: 'File',
    problem: (value) =>
      isFile(value) ? undefined : 'must be an uploaded file: an object with the guid of an asset',
    limits: [],
    schema: () => file,
    value: 'object',
    input: 'file',
    cell: 'files',
    message: 'field.file',
    read: 'json',
  },
  files: {
    label: 'Several files',
    problem: (value) =>
      Array.isArray(value) && value.every(isFile)
        ? undefined
        : 'must be a list of uploaded files: objects with the guid of an asset',
    limits: lengths,
    schema: () => ({ type: 'array', items: file }),
    value: 'list',
    input: 'file',
    cell: 'files',
    message: 'field.file',
    read: 'json',
  },
  list: {
    label: 'List of one type',
    problem: itemsProblem,
    limits: [...lengths, 'items', 'choices'],
    needs: 'items',
    schema: ({ items, choices, ...limits }) => ({
      type: 'array',
      ...(items && { items: { ...entryOf(items).schema(limits), ...(choices && { enum: choices }) } }),
    }),
    value: 'list',
    input: 'area',
    cell: 'json',
    message: 'field.list',
    read: 'lines',
  },
  autonumber: {
    label: 'Automatic number',
    problem: (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number'),
    at: numberOf,
    limits: ['start'],
    schema: () => ({ type: 'integer' }),
    value: 'number',
    input: 'number',
    cell: 'number',
    message: 'field.integer',
    read: 'number',
    automatic: true,
  },
  created_by: { ...person, label: 'Created by' },
  changed_by: { ...person, label: 'Changed by' },
} as const satisfies Readonly<Record<string, FieldTypeEntry>>

export type FieldType = keyof typeof entries

export const fieldTypeEntries: Readonly<Record<FieldType, FieldTypeEntry>> = entries

export function isFieldType(value: unknown): value is FieldType {
  return typeof value === 'string' && Object.hasOwn(entries, value)
}

export const fieldTypes: readonly FieldType[] = Object.keys(entries).filter(isFieldType)

export function isItemType(value: unknown): value is ItemType {
  return itemTypes.some((one) => one === value)
}

function entryOf(type: ItemType): FieldTypeEntry {
  return entries[type]
}

function listProblem(value: JsonValue): string | undefined {
  return Array.isArray(value) ? undefined : 'must be a list'
}

/** As of lists in expressions: days, the slowest ones, take 2 µs each. */
const MOST_ITEMS = 10_000

function itemsProblem(value: JsonValue, limits: FieldLimits): string | undefined {
  if (!Array.isArray(value)) return 'must be a list'
  if (value.length > MOST_ITEMS) return `must have at most ${MOST_ITEMS} items`
  const { items } = limits
  if (items === undefined) return undefined
  const list: readonly JsonValue[] = value
  for (const [at, item] of list.entries()) {
    const problem = entryOf(items).problem(item, {})
    if (problem !== undefined) return `has an item ${at + 1} that ${problem}`
  }
  return undefined
}
