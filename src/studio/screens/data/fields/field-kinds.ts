/** The types of fields as one list to choose from, the most frequent first. Money is a decimal with a currency. */
import { type FieldType, fieldTypeEntries, isFieldType } from '../../../../shared/fields/field-type.ts'
import { isJsonObject } from '../../../../shared/json.ts'
import type { IconName } from '../../../controls/icon.tsx'
import { fieldsTexts } from '../../../texts/fields.ts'

export type FieldKind = FieldType | 'money'

const icons = {
  string: 'text',
  long_text: 'lines',
  integer: 'number',
  decimal: 'number',
  money: 'money',
  boolean: 'check',
  day: 'calendar',
  instant: 'history',
  choice: 'choice',
  choices: 'choice',
  reference: 'arrow',
  file: 'file',
  files: 'file',
  email: 'mail',
  phone: 'phone',
  url: 'external',
  line: 'text',
  number: 'number',
  autonumber: 'number',
  created_by: 'people',
  changed_by: 'people',
  date: 'calendar',
  list: 'lines',
  array: 'lines',
  object: 'api',
} as const satisfies Readonly<Record<FieldKind, IconName>>

export const fieldKinds: readonly FieldKind[] = Object.keys(icons).filter(isFieldKind)

export function isFieldKind(value: unknown): value is FieldKind {
  return typeof value === 'string' && Object.hasOwn(icons, value)
}

export function kindLabel(kind: FieldKind): string {
  return kind === 'money' ? fieldsTexts.money : fieldTypeEntries[kind].label
}

export function kindIcon(kind: FieldKind): IconName {
  return icons[kind]
}

/** Kinds whose label or other names begin with what is typed, then those that contain it. */
export function findKinds(typed: string): readonly FieldKind[] {
  const requested = typed.trim().toLowerCase()
  if (requested === '') return fieldKinds
  const nameOf = (kind: FieldKind) => kindLabel(kind).toLowerCase()
  const wordsOf = (kind: FieldKind) => `${nameOf(kind)} ${fieldsTexts.kindLabels[kind]}`.split(/\s+/)
  const levels = [
    fieldKinds.filter((kind) => nameOf(kind).startsWith(requested)),
    fieldKinds.filter((kind) => wordsOf(kind).some((word) => word.startsWith(requested))),
    fieldKinds.filter((kind) => `${nameOf(kind)} ${fieldsTexts.kindLabels[kind]}`.includes(requested)),
  ]
  return [...new Set(levels.flat())]
}

interface Typed {
  readonly type: FieldType
  readonly currency: string
}

export function kindOf({ type, currency }: Typed): FieldKind {
  return type === 'decimal' && currency !== '' ? 'money' : type
}

/** What a field has of a kind: money keeps the currency that was chosen before, or begins with the usual one. */
export function typeOfKind(kind: FieldKind, before: string, usual: string): Typed {
  return kind === 'money'
    ? { type: 'decimal', currency: before === '' ? usual : before }
    : { type: kind, currency: '' }
}

/** What a stored field is called; the type itself where it is none that is known. */
export function storedKindLabel({
  type,
  validation_rules: rules,
}: {
  readonly type: string
  readonly validation_rules: unknown
}): string {
  if (!isFieldType(type)) return type
  const currency = isJsonObject(rules) && typeof rules.currency === 'string' ? rules.currency : ''
  return kindLabel(kindOf({ type, currency }))
}
