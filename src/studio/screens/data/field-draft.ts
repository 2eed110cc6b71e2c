import type { FieldRecord } from '../../../shared/api/blueprint-fields.ts'
import { isFields } from './document-shape.ts'

export const fieldTypes = ['string', 'number', 'boolean', 'object', 'array', 'date'] as const

/** A field as its form holds it: limits as they are typed. */
export interface FieldDraft {
  readonly name: string
  readonly type: string
  readonly description: string
  /** Name; empty: wherever the field is written. */
  readonly storage: string
  readonly required: boolean
  /** JSON; empty: none. */
  readonly defaultValue: string
  readonly min: string
  readonly max: string
  readonly minLength: string
  readonly maxLength: string
  readonly pattern: string
  readonly choices: readonly string[]
}

export const newField: FieldDraft = {
  name: '',
  type: 'string',
  description: '',
  storage: '',
  required: false,
  defaultValue: '',
  min: '',
  max: '',
  minLength: '',
  maxLength: '',
  pattern: '',
  choices: [],
}

export function draftOfField(field: FieldRecord): FieldDraft {
  const rules = isFields(field.validation_rules) ? field.validation_rules : {}
  const text = (name: string) => (rules[name] === undefined ? '' : String(rules[name]))
  return {
    name: field.name,
    type: field.type,
    description: field.description,
    storage: field.storage ?? '',
    required: field.required,
    defaultValue:
      field.default_value === null || field.default_value === undefined
        ? ''
        : JSON.stringify(field.default_value),
    min: text('min'),
    max: text('max'),
    minLength: text('min_length'),
    maxLength: text('max_length'),
    pattern: text('pattern'),
    choices: Array.isArray(rules.choices) ? rules.choices.map(String) : [],
  }
}

/** What the API takes. Text that is no JSON is taken as text for the default of a text field. */
export function bodyOfField(draft: FieldDraft) {
  const { name, type, description, storage, required, defaultValue, choices, pattern } = draft
  const bound = (text: string) => (text === '' ? undefined : type === 'date' ? text : Number(text))
  const whole = (text: string) => (text === '' ? undefined : Number(text))
  const rules = {
    min: bound(draft.min),
    max: bound(draft.max),
    min_length: whole(draft.minLength),
    max_length: whole(draft.maxLength),
    pattern: pattern === '' ? undefined : pattern,
    choices: choices.length === 0 ? undefined : choices.map((one) => (type === 'number' ? Number(one) : one)),
  }
  return {
    name,
    type,
    description,
    storage: storage === '' ? null : storage,
    required,
    default_value: defaultValue === '' ? null : readDefault(defaultValue, type),
    validation_rules: rules,
  }
}

function readDefault(text: string, type: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (type === 'string' || type === 'date') return text
    throw new Error('The default value is not JSON.')
  }
}
