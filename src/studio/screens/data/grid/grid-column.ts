/** The columns of a grid: what a field's type, or what documents hold where there is no field, means for its cells. */

import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { wordsOfField } from '../../../../shared/fields/field-names.ts'
import {
  type FieldCell,
  type FieldType,
  fieldTypeEntries,
  isFieldType,
} from '../../../../shared/fields/field-type.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { isFields, type FieldType as Shape, type ShapeField } from '../documents/document-shape.ts'

export type CellKind = FieldCell | 'seconds'

export interface GridColumn {
  /** Dotted name of the field. */
  readonly name: string
  readonly label: string
  readonly kind: CellKind
  /** What text that is typed or pasted becomes. */
  readonly type: FieldType
  readonly field: FieldRecord | undefined
  readonly width: number
  readonly choices: readonly string[]
  /** As the field has them: numbers, too. */
  readonly rawChoices: readonly unknown[]
  /** Quoin writes it: `_meta`, computed fields, who wrote. */
  readonly readOnly: boolean
}

const shapeTypes: Readonly<Record<Shape, FieldType>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
  null: 'string',
}

const widths: Readonly<Partial<Record<CellKind, number>>> = {
  number: 110,
  condition: 90,
  day: 120,
  instant: 200,
  seconds: 200,
  area: 260,
  json: 200,
}
const USUAL_WIDTH = 180
const LEAST_WIDTH = 60
const MOST_WIDTH = 900

const metaLabels: Readonly<Record<string, string>> = {
  '_meta.guid': documentsTexts.guid,
  '_meta.created': documentsTexts.created,
  '_meta.updated': documentsTexts.changed,
  '_meta.removed': documentsTexts.removed,
}

/** Also of a width that stands in an address. */
export function boundedWidth(width: number): number {
  return Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)))
}

interface Known {
  readonly fields: readonly FieldRecord[]
  readonly shape: readonly ShapeField[]
  readonly widths: ReadonlyMap<string, number>
}

export function gridColumn(name: string, known: Known): GridColumn {
  const field = known.fields.find((one) => one.name === name)
  const shape = known.shape.find((one) => one.name === name)?.types ?? []
  const type =
    field && isFieldType(field.type) ? field.type : shapeTypes[shape.find((one) => one !== 'null') ?? 'null']
  const rawChoices = choicesOf(field)
  const choices = rawChoices.map(String)
  const kind = kindOf(name, type, field, choices)
  return {
    name,
    label: field?.label || (field ? wordsOfField(name) : (metaLabels[name] ?? name)),
    kind,
    type,
    field,
    width: known.widths.get(name) ?? widths[kind] ?? USUAL_WIDTH,
    choices,
    rawChoices,
    readOnly: isReadOnly(name, type, field),
  }
}

function kindOf(
  name: string,
  type: FieldType,
  field: FieldRecord | undefined,
  choices: readonly string[],
): CellKind {
  if (name.startsWith('_meta.')) return name === '_meta.guid' ? 'text' : 'seconds'
  if (field?.reference) return 'reference'
  if (choices.length > 0 && (type === 'string' || type === 'number' || type === 'integer')) return 'choice'
  if (
    field === undefined &&
    type === 'number' &&
    /(_at|date|time|created|updated|due|expiry|until)$/i.test(name)
  )
    return 'seconds'
  return fieldTypeEntries[type].cell
}

function isReadOnly(name: string, type: FieldType, field: FieldRecord | undefined): boolean {
  if (name === '_meta' || name.startsWith('_meta.')) return true
  return fieldTypeEntries[type].automatic === true || typeof field?.computed === 'string'
}

function choicesOf(field: FieldRecord | undefined): readonly unknown[] {
  const rules = field?.validation_rules
  return isFields(rules) && Array.isArray(rules.choices) ? rules.choices : []
}
