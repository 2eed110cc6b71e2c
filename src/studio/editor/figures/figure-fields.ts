/** Which fields group documents and which are added up, and what a new chart or card begins with. */
import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import { wordsOfField } from '../../../shared/fields/field-names.ts'
import { type FieldType, fieldTypeEntries, isFieldType } from '../../../shared/fields/field-type.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { figureTexts } from '../../texts/canvas.ts'
import type { Figure, FigureDraft, Part } from './page-figure.ts'

export type KnownField = Pick<FieldRecord, 'name' | 'type' | 'label' | 'validation_rules'>

const times: ReadonlySet<string> = new Set<FieldType>(['day', 'instant', 'date'])
const groups: ReadonlySet<string> = new Set<FieldType>([
  ...(['choice', 'boolean', 'string', 'line', 'email', 'integer', 'number', 'decimal', 'reference'] as const),
])

export function isTime(field: KnownField | undefined): boolean {
  return field !== undefined && times.has(field.type)
}

export function canGroup({ type }: KnownField): boolean {
  return times.has(type) || groups.has(type)
}

/** Sums and averages are of numbers; the smallest and largest of times too. */
export function canMeasure(figure: Figure, field: KnownField): boolean {
  if (figure === 'count' || !isFieldType(field.type)) return false
  const isNumber = fieldTypeEntries[field.type].value === 'number' && field.type !== 'autonumber'
  if (figure === 'sum' || figure === 'average') return isNumber
  return figure === 'count_distinct' ? canGroup(field) : isNumber
}

export function isMoney(field: KnownField | undefined): boolean {
  return isJsonObject(field?.validation_rules) && typeof field.validation_rules.currency === 'string'
}

/** Amounts by month, where the storage has both: what most people want to see first. */
export function firstFigure(
  fields: readonly KnownField[],
  isChart: boolean,
): Pick<FigureDraft, 'group' | 'part' | 'figure' | 'field'> {
  const amount = fields.find(isMoney) ?? fields.find((field) => field.type === 'decimal')
  const time = fields.find(isTime)
  const group = isChart
    ? (time ?? fields.find(({ type }) => type === 'choice') ?? fields.find(canGroup))
    : undefined
  return {
    ...(amount ? { figure: 'sum' as const, field: amount.name } : { figure: 'count' as const, field: '' }),
    ...{ group: group?.name ?? '', part: partFor(group) },
  }
}

/** Each time by itself is rarely a group. */
export function partFor(field: KnownField | undefined): Part {
  return isTime(field) ? 'month' : ''
}

/** A title from what is chosen: *Sum of amount by month*. */
export function titleOf({ figure, field, group, part }: FigureDraft, fields: readonly KnownField[]): string {
  const label = (name: string) => {
    const known = fields.find((one) => one.name === name)
    return (known?.label || wordsOfField(name)).toLowerCase()
  }
  const measured = figureTexts.measured(figure, label(field))
  if (group === '') return measured
  return figureTexts.by(measured, part === '' ? label(group) : figureTexts.parts[part].toLowerCase())
}
