import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { PinError } from '../block.ts'

const MOST_COLUMNS = 200
const LONGEST_LABEL = 200

/** One column of a table. */
export interface RowColumn {
  readonly label: string
  /** As it is written: fields of other documents behind their reference. */
  readonly field: string
  /** What the field belongs to another document by. */
  readonly reference?: Reference
  readonly value: (row: JsonObject) => JsonValue | undefined
}

/** Fields by name, or `{ field, label }`; behind one of these references, of the document there. Throws PinError. */
export function rowColumns(
  columns: readonly JsonValue[],
  references: readonly Reference[],
): readonly RowColumn[] {
  if (columns.length > MOST_COLUMNS) throw new PinError('columns', `must be at most ${MOST_COLUMNS}`)
  return columns.map((column) => {
    const { field, label = field } = isJsonObject(column) ? column : { field: column }
    const problem = typeof field === 'string' ? fieldNameProblem(field) : 'is no text'
    if (typeof field !== 'string' || problem !== undefined)
      throw new PinError('columns', `must be names of fields; ${JSON.stringify(field)} ${problem}`)
    if (typeof label !== 'string' || label.length > LONGEST_LABEL)
      throw new PinError('columns', `must have labels of at most ${LONGEST_LABEL} characters`)
    const reference = references.find((one) => field.startsWith(`${one.field}.`))
    const path = parseFieldPath(reference ? field.slice(reference.field.length + 1) : field)
    const behind = reference && ['_expand', reference.field]
    return {
      ...{ label, field },
      ...(reference && { reference }),
      value: (row) => valueAt(behind ? valueAt(row, behind) : row, path),
    }
  })
}

/** All fields of a row, in their order. */
export function columnsOf(row: JsonObject): readonly RowColumn[] {
  const names = Object.keys(row).filter((name) => name !== '_meta' && name !== '_expand')
  return names.slice(0, MOST_COLUMNS).map((label) => ({ label, field: label, value: (one) => one[label] }))
}
