import { cellProblem } from '../../expressions/functions/cell-expression.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { wordsOfField } from '../../shared/fields/field-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { TableAction, TableColumn } from '../../shared/pages/page-table.ts'
import type { RowParts } from '../../shared/rows/row-part.ts'
import { type ValueFormat, valueFormats } from '../../shared/value-format.ts'
import { PinError } from '../block.ts'
import { isWritten } from '../pins/written-rows.ts'

/** As many fields as one search for a text may look at (storage/search/check-search.ts): each of them can be searched. */
const MAX_COLUMNS = 100
const MAX_ACTIONS = 20
const filters = ['text', 'choice', 'number', 'date', 'boolean'] as const
const places = ['row', 'rows', 'both'] as const

export const columnParts: RowParts = {
  field: { kind: 'field' },
  label: { kind: 'text' },
  kind: { kind: 'choice', choices: valueFormats },
  format: { kind: 'expression' },
  sortable: { kind: 'switch' },
  filter: { kind: 'choice', choices: filters },
  hidden: { kind: 'switch' },
  currency: { kind: 'text' },
}

export const actionParts: RowParts = {
  name: { kind: 'name' },
  label: { kind: 'text' },
  confirm: { kind: 'text' },
  tone: { kind: 'choice', choices: ['danger'] },
  for: { kind: 'choice', choices: places },
}

/**
 * The columns of a table as a builder writes them: names of fields, or objects `{ field, label, kind, sortable, format,
 * filter, options, hidden, currency }`. `format` is what a cell shows, as an expression, or another word for `kind`. Throws PinError for `columns`.
 */
export function tableColumns(written: readonly JsonValue[]): TableColumn[] {
  const refuse = (message: string) => new PinError('columns', message)
  if (written.length === 0) throw refuse('must name at least one field')
  if (written.length > MAX_COLUMNS)
    throw refuse(
      `must be at most ${MAX_COLUMNS} and are ${written.length}: keep the columns that users compare, and show the rest of a document on a separate page (row_link)`,
    )
  const seen = new Set<string>()
  return written.map((one, at) => {
    const column: JsonObject | undefined =
      typeof one === 'string' ? { field: one } : isJsonObject(one) ? one : undefined
    const field = column?.field
    if (!column || typeof field !== 'string')
      throw refuse('must contain names of fields, or objects with a field')
    const problem = fieldNameProblem(field)
    if (problem) throw refuse(`has the field ${JSON.stringify(field)}, which ${problem}`)
    if (seen.has(field)) throw refuse(`has the field ${JSON.stringify(field)} twice`)
    seen.add(field)
    const cell = expressionOf(column.format)
    if (cell !== undefined && !isWritten(column))
      throw refuse(
        `row ${at + 1}, format of ${field}: an expression stands only in columns that are written in the block, not in those of a wire or an expression`,
      )
    const filter = filters.find((name) => name === column.filter)
    return {
      field,
      label: typeof column.label === 'string' && column.label !== '' ? column.label : wordsOfField(field),
      format: formatOf(cell === undefined ? (column.format ?? column.kind) : column.kind, refuse),
      ...(cell !== undefined && { cell }),
      sortable: column.sortable === true,
      ...(filter !== undefined && { filter }),
      ...(Array.isArray(column.options) && { options: optionsOf(column.options) }),
      ...(column.hidden === true && { hidden: true }),
      ...(typeof column.currency === 'string' && { currency: column.currency }),
    }
  })
}

/** Throws PinError for an expression of a column that cannot be compiled. */
export function checkCells(columns: readonly TableColumn[]): void {
  for (const [at, { field, cell }] of columns.entries()) {
    const problem = cell === undefined ? undefined : cellProblem(cell)
    if (problem !== undefined)
      throw new PinError('columns', `row ${at + 1}, format of ${field}: ${problem.replace(/\.$/, '')}`)
  }
}

function expressionOf(format: JsonValue | undefined): string | undefined {
  return typeof format === 'string' && format.startsWith('=') ? format.slice(1) : undefined
}

/** What can be done with rows: names, or objects `{ name, label, confirm, tone, for }`. Throws PinError for `actions`. */
export function tableActions(written: readonly JsonValue[]): TableAction[] {
  const refuse = (message: string) => new PinError('actions', message)
  if (written.length > MAX_ACTIONS) throw refuse(`must be at most ${MAX_ACTIONS}`)
  const seen = new Set<string>()
  return written.map((one) => {
    const action: JsonObject | undefined =
      typeof one === 'string' ? { name: one } : isJsonObject(one) ? one : undefined
    const name = action?.name
    if (!action || typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
      throw refuse('must contain names of letters, digits, _ and -, or objects with such a name')
    if (seen.has(name)) throw refuse(`has ${name} twice`)
    seen.add(name)
    return {
      name,
      label: typeof action.label === 'string' && action.label !== '' ? action.label : wordsOfField(name),
      for: places.find((place) => place === action.for) ?? 'row',
      ...(typeof action.confirm === 'string' && { confirm: action.confirm }),
      ...(action.tone === 'danger' && { tone: 'danger' }),
    }
  })
}

function formatOf(written: JsonValue | undefined, refuse: (message: string) => PinError): ValueFormat {
  if (written === undefined || written === null || written === '') return 'auto'
  const format = valueFormats.find((one) => one === written)
  if (format === undefined) throw refuse(`has an unknown kind; allowed: ${valueFormats.join(', ')}`)
  return format
}

function optionsOf(written: readonly JsonValue[]): { readonly value: string; readonly label: string }[] {
  return written.flatMap((option) => {
    const { value, label } = isJsonObject(option) ? option : { value: option, label: option }
    if (typeof value === 'object' || value === undefined) return []
    return [{ value: String(value), label: typeof label === 'string' ? label : String(value) }]
  })
}
