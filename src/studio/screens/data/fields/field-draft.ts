import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { isFreeText, type onDeletes } from '../../../../shared/field-rule.ts'
import { type FieldType, fieldTypeEntries, isFieldType } from '../../../../shared/fields/field-type.ts'
import { isCollationName } from '../../../../shared/texts/collations.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { isFields } from '../documents/document-shape.ts'

/** A field as its form holds it: limits as they are typed. */
export interface FieldDraft {
  readonly name: string
  readonly type: FieldType
  readonly label: string
  readonly help: string
  readonly order: string
  readonly description: string
  /** Name; empty: wherever the field is written. */
  readonly storage: string
  readonly required: boolean
  /** JSON; empty: none. */
  readonly defaultValue: string
  readonly defaultExpression: string
  readonly computed: string
  /** Expressions over the user; empty: no rule. */
  readonly visibleTo: string
  readonly settableBy: string
  readonly min: string
  readonly max: string
  readonly minLength: string
  readonly maxLength: string
  readonly pattern: string
  readonly choices: readonly string[]
  readonly places: string
  /** Of a decimal that is money; empty for none. */
  readonly currency: string
  readonly start: string
  readonly items: string
  /** Of texts; empty: the order of no language. */
  readonly collation: string
  /** What of texts does not count in searches. */
  readonly ignores: 'nothing' | 'case' | 'accents'
  readonly unique: boolean
  /** The name that fields share which are unique together. */
  readonly uniqueWith: string
  readonly ignoreCase: boolean
  readonly ignoreAccents: boolean
  /** Name of the storage; empty: it is no reference. */
  readonly refersTo: string
  readonly onDelete: (typeof onDeletes)[number]
}

export const newField: FieldDraft = {
  name: '',
  type: 'string',
  label: '',
  help: '',
  order: '',
  description: '',
  storage: '',
  required: false,
  defaultValue: '',
  defaultExpression: '',
  computed: '',
  visibleTo: '',
  settableBy: '',
  min: '',
  max: '',
  minLength: '',
  maxLength: '',
  pattern: '',
  choices: [],
  places: '',
  currency: '',
  start: '',
  items: '',
  collation: '',
  ignores: 'nothing',
  unique: false,
  uniqueWith: '',
  ignoreCase: false,
  ignoreAccents: false,
  refersTo: '',
  onDelete: 'refuse',
}

export function draftOfField(field: FieldRecord): FieldDraft {
  const rules = isFields(field.validation_rules) ? field.validation_rules : {}
  const text = (name: string) => (rules[name] === undefined ? '' : String(rules[name]))
  return {
    name: field.name,
    type: isFieldType(field.type) ? field.type : 'string',
    label: field.label ?? '',
    help: field.help ?? '',
    order: typeof field.order === 'number' ? String(field.order) : '',
    description: field.description,
    storage: field.storage ?? '',
    required: field.required,
    defaultValue:
      field.default_value === null || field.default_value === undefined
        ? ''
        : JSON.stringify(field.default_value),
    defaultExpression: field.default_expression ?? '',
    computed: field.computed ?? '',
    visibleTo: field.visible_to ?? '',
    settableBy: field.settable_by ?? '',
    min: text('min'),
    max: text('max'),
    minLength: text('min_length'),
    maxLength: text('max_length'),
    pattern: text('pattern'),
    choices: Array.isArray(rules.choices) ? rules.choices.map(String) : [],
    places: text('places'),
    currency: text('currency'),
    start: text('start'),
    items: text('items'),
    collation: field.collation ?? '',
    ignores: field.ignore_accents ? 'accents' : field.ignore_case ? 'case' : 'nothing',
    ...uniqueDraft(field.unique),
    refersTo: field.reference?.storage ?? '',
    onDelete: field.reference?.on_delete ?? 'refuse',
  }
}

function uniqueDraft(unique: FieldRecord['unique']) {
  const {
    with: shared = '',
    ignore_case = false,
    ignore_accents = false,
  } = typeof unique === 'object' && unique !== null
    ? unique
    : { with: typeof unique === 'string' ? unique : undefined }
  return {
    unique: unique !== undefined && unique !== null && unique !== false,
    uniqueWith: shared,
    ignoreCase: ignore_case,
    ignoreAccents: ignore_accents,
  }
}

/** What the API takes. Limits that the type does not have are left out. */
export function bodyOfField(draft: FieldDraft) {
  const { name, type, label, help, description, storage, required, defaultValue, choices } = draft
  const { value, limits } = fieldTypeEntries[type]
  const number = (text: string) => (text === '' ? undefined : Number(text))
  const plain = (text: string) => (text === '' ? undefined : text)
  const bound = value === 'number' ? number : plain
  const rules = {
    min: bound(draft.min),
    max: bound(draft.max),
    min_length: number(draft.minLength),
    max_length: number(draft.maxLength),
    pattern: plain(draft.pattern),
    choices: choices.length === 0 ? undefined : choices.map((one) => choiceOf(draft, one)),
    places: number(draft.places),
    currency: plain(draft.currency),
    start: number(draft.start),
    items: plain(draft.items),
  }
  return {
    name,
    type,
    label,
    help,
    order: draft.order.trim() === '' ? null : Number(draft.order),
    description,
    storage: storage === '' ? null : storage,
    required,
    default_value: defaultValue === '' ? null : readDefault(defaultValue, type),
    default_expression: plain(draft.defaultExpression.trim()) ?? null,
    computed: plain(draft.computed.trim()) ?? null,
    visible_to: plain(draft.visibleTo.trim()) ?? null,
    settable_by: plain(draft.settableBy.trim()) ?? null,
    validation_rules: Object.fromEntries(
      Object.entries(rules).filter(([limit]) => limits.some((one) => one === limit)),
    ),
    collation: isFreeText(draft) && isCollationName(draft.collation) ? draft.collation : null,
    ignore_case: isFreeText(draft) && draft.ignores !== 'nothing',
    ignore_accents: isFreeText(draft) && draft.ignores === 'accents',
    unique: uniqueOf(draft),
    reference: referenceOf(draft),
  }
}

/** Fields of other types are none. */
function referenceOf({ type, refersTo, onDelete }: FieldDraft) {
  if (refersTo === '' || (type !== 'reference' && type !== 'string')) return null
  return { storage: refersTo, on_delete: onDelete }
}

function uniqueOf({ unique, uniqueWith, ignoreCase, ignoreAccents }: FieldDraft) {
  if (!unique) return null
  const shared = uniqueWith.trim()
  if (!ignoreCase && !ignoreAccents) return shared === '' ? true : shared
  return { ...(shared !== '' && { with: shared }), ignore_case: ignoreCase, ignore_accents: ignoreAccents }
}

function choiceOf({ type, items }: FieldDraft, choice: string): string | number {
  const isNumber = fieldTypeEntries[type].value === 'number' || items === 'number' || items === 'integer'
  return isNumber ? Number(choice) : choice
}

/** Text that is no JSON is taken as text where the type is one. */
function readDefault(text: string, type: FieldType): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return fieldTypeEntries[type].value === 'text' && typeof value !== 'string' ? text : value
  } catch {
    const { value, read } = fieldTypeEntries[type]
    if (value === 'text' || read === 'text' || read === 'date') return text
    throw new Error(fieldsTexts.defaultValueNotJson)
  }
}
