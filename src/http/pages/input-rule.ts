/** How an input is drawn and what fits in it: what the block says, completed by the blueprint field. */

import { localTime, readIsoDate } from '../../shared/dates/dates.ts'
import { type FieldRule, isAutomatic } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import { wordsOfField } from '../../shared/fields/field-names.ts'
import { type FieldType, fieldTypeEntries, placesOf } from '../../shared/fields/field-type.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { InputOption, InputType, PageInput } from '../../shared/pages/page-input.ts'

/** From this many characters on, text gets more than one line. */
const LONG_TEXT = 300

type DrawnType = Exclude<InputType, 'auto'>

export interface InputWithRules {
  /** Complete, but for `value`, `error` and `id`. */
  readonly input: PageInput & { readonly type: DrawnType }
  readonly rule: FieldRule
  /** Whether the rule is a blueprint field's; else it was made of what the block says. */
  readonly ofField: boolean
}

export function inputWithRules(node: PageInput, field: FieldRule | undefined): InputWithRules {
  const type = node.type === 'auto' ? (field ? typeFor(field) : 'text') : node.type
  const options = node.options ?? choicesOf(field?.limits)
  const limits = field?.limits ?? {}
  const asks = field?.required === true && type !== 'check' && !isAutomatic(field)
  const required = node.required === true || asks
  const [min, max] = [node.min ?? limits.min, node.max ?? limits.max]
  const maxLength = node.maxLength ?? (isText(type) ? limits.max_length : undefined)
  const minLength = isText(type) ? limits.min_length : undefined
  const help = node.help ?? field?.help
  const input: InputWithRules['input'] = {
    ...node,
    label: labelOf(node, field),
    type,
    ...(help !== undefined && { help }),
    ...(required && { required }),
    ...(field && isAutomatic(field) && { disabled: true }),
    ...(options && { options }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(field?.type === 'files' && { multiple: true }),
    ...(type === 'number' && { step: node.step ?? stepOf(field) }),
  }
  return { input, rule: ruleFor(input, field), ofField: field !== undefined }
}

/** A label that the block has made from the name gives way to the field's. An amount says its currency. */
function labelOf({ label: written, name, type }: PageInput, field: FieldRule | undefined): string {
  const label = field?.label !== undefined && written === wordsOfField(name) ? field.label : written
  const currency = type === 'auto' || type === 'number' ? field?.limits.currency : undefined
  return currency === undefined || label.includes(currency) ? label : `${label} (${currency})`
}

function typeFor({ type, limits }: FieldRule): DrawnType {
  if (type === 'array' || type === 'list') return limits.choices ? 'choices' : 'area'
  if (limits.choices && type !== 'choices') return 'choice'
  if (type === 'string' && (limits.max_length ?? 0) >= LONG_TEXT) return 'area'
  return fieldTypeEntries[type].input
}

/** What a number's input goes up and down by; `any` allows every number. */
function stepOf(field: FieldRule | undefined): string {
  if (field?.type === 'integer') return '1'
  return field?.type === 'decimal' ? (10 ** -placesOf(field.limits)).toString() : 'any'
}

const typesOfRules: Readonly<Record<DrawnType, FieldType>> = {
  text: 'string',
  line: 'line',
  number: 'number',
  date: 'date',
  date_time: 'date',
  email: 'string',
  password: 'string',
  area: 'string',
  choice: 'string',
  choices: 'array',
  check: 'boolean',
  file: 'object',
  hidden: 'string',
}

/** The field's rule with what the block asks for beyond it. */
function ruleFor(input: InputWithRules['input'], field: FieldRule | undefined): FieldRule {
  const { min, max, maxLength } = input
  const limits: FieldLimits = {
    ...field?.limits,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(maxLength !== undefined && isText(input.type) && { max_length: maxLength }),
  }
  const type = input.type === 'file' && input.multiple ? 'array' : typesOfRules[input.type]
  return {
    name: input.name,
    storage: field?.storage ?? 'form',
    type: field?.type ?? type,
    required: input.required === true,
    defaultValue: field?.defaultValue,
    limits,
  }
}

export function isText(type: InputType): boolean {
  return ['text', 'line', 'email', 'password', 'area', 'hidden'].includes(type)
}

function choicesOf(limits: FieldLimits | undefined): readonly InputOption[] | undefined {
  return limits?.choices?.map((choice) => ({ value: String(choice), label: String(choice) }))
}

/** A stored value as the input shows it. */
export function shownValue(
  type: DrawnType,
  value: JsonValue | undefined,
  timeZone: string,
): JsonValue | undefined {
  if (value === undefined || value === null || type === 'password' || type === 'file') return undefined
  switch (type) {
    case 'check':
      return value === true || value === 'true' || value === 'on'
    case 'choices':
      return Array.isArray(value) ? value.map((one) => String(one)) : [String(value)]
    case 'date':
      return dateText(value, timeZone)?.slice(0, 10) ?? plainText(value)
    case 'date_time':
      return dateText(value, timeZone)?.slice(0, 16) ?? plainText(value)
    default:
      return plainText(value)
  }
}

function plainText(value: JsonValue): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.map(String).join('\n')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}

/** A day, and a time without a zone, stay as they are. */
function dateText(value: JsonValue, timeZone: string): string | undefined {
  const at =
    typeof value === 'number' ? value * 1000 : typeof value === 'string' ? readIsoDate(value) : undefined
  if (at === undefined || Number.isNaN(new Date(at).getTime())) return undefined
  const isLocal = typeof value === 'string' && !/(?:Z|[+-]\d{2}:\d{2})$/i.test(value.slice(10))
  return localTime(at, isLocal ? 'UTC' : timeZone)
}

/** The bounds of a time as its input takes them. */
export function localBounds({ type, min, max }: PageInput, timeZone: string): Pick<PageInput, 'min' | 'max'> {
  if (type !== 'date_time') return {}
  const bound = (value: PageInput['min']) =>
    value === undefined ? undefined : dateText(value, timeZone)?.slice(0, 16)
  const [least, most] = [bound(min), bound(max)]
  return { ...(least !== undefined && { min: least }), ...(most !== undefined && { max: most }) }
}
