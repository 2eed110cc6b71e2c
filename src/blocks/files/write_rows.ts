import { csvCell } from '../../shared/csv-cell.ts'
import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { namingFields } from '../../storage/reference/reference-by-name.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { builderStorage } from '../names.ts'
import { attemptPins } from '../outside-attempts.ts'
import { whereIn } from '../pins/query-pins.ts'
import { referringQuery } from '../referring-query.ts'
import { fieldCell, nameOrGuid } from '../rows/field-cell.ts'
import { pagesOf } from '../rows/search-pages.ts'
import { type Cell, type DateCell, MOST_SHEET_ROWS, xlsxFile } from '../rows/xlsx-file.ts'
import { placePins, storeFileAgain } from './store-file.ts'

const MOST_ITEMS = 10_000
const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
/** Spreadsheets take the text for UTF-8 then. */
const BYTE_ORDER_MARK = '\ufeff'

export default defineFlow({
  identifier: 'write_rows',
  title: 'Write rows',
  words: 'Write rows to {name}',
  summary:
    'Writes the documents of a search of any size, or a list, as a table into a file (an asset): XLSX if its name ends with .xlsx, else CSV. The file is stored at once: a run that fails later does not delete it.',
  effects: { calls: 'external' },
  deployScopes: ['assets_create', 'assets_remove'],
  in: {
    list: { type: 'array', help: 'Objects, at most 10,000: a row each. Not together with storage.' },
    storage: {
      type: 'storage',
      help: 'Storage whose documents are the rows. They are read a page at a time while the file is written.',
    },
    query: { type: 'query', help: 'Query for the documents. Empty: all documents.' },
    where: whereIn,
    sort: {
      type: 'sort',
      several: true,
      help: 'The order of the documents: fields such as country, amount desc, most important first. Empty: newest first.',
    },
    columns: {
      type: 'array',
      help: 'Names of fields, or objects with field and label. Of the documents of a storage also fields of a document that they refer to, such as customer.name. Empty: the fields of the first row.',
    },
    references: {
      type: 'value',
      default: 'name',
      choices: ['name', 'guid'],
      help: 'How fields of documents that refer to others are written: the value of the first unique text field there, by which an import finds the document again, or the guid. A document without such a value is written by its guid.',
    },
    ...placePins,
    ...attemptPins,
  },
  out: {
    file: { type: 'object', help: 'Guid, name, type and size, as fields of the type file hold them.' },
    count: { type: 'number', help: 'Number of rows, without the header.' },
  },
  settings: {},
  async run(inputs, context) {
    const { list, storage, query, where, sort, columns, name, directory } = inputs
    if ((list === undefined) === (storage === undefined))
      throw new PinError('list', 'or storage is needed, and one of the two only')
    const { session, signal } = context
    const isSheet = name.trim().toLowerCase().endsWith('.xlsx')
    const searched = storage === undefined ? undefined : builderStorage(storage)
    const references = searched === undefined ? [] : await context.references(searched)
    const input = columns === undefined || columns.length === 0 ? undefined : rowColumns(columns, references)
    const byName = inputs.references === 'name'
    const of = { storage: searched, references, isSheet, byName, rulesOf: context.rules }
    const counted = { rows: 0 }
    const asked = searched && {
      ...{ session, storage: searched, sort },
      query: await referringQuery(context, searched, { query, where, sort }),
    }
    const cells = await tableCells(of)
    const file = () => {
      counted.rows = 0
      cells.currencies.length = 0
      const expand = cells.expand(input)
      const rows = asked ? documents(pagesOf({ ...asked, expand })) : rowsOf(list ?? [])
      const most = isSheet ? MOST_SHEET_ROWS - 1 : Infinity
      const written = table(rows, input, { cells, counted, signal, most })
      const content = isSheet ? xlsxFile(written, cells.currencies) : csvFile(written)
      const type = isSheet ? TYPES.xlsx : TYPES.csv
      return { name: name.trim(), directory: directory.trim(), type, content }
    }
    return { file: await storeFileAgain(context, inputs, file), count: counted.rows }
  },
})

async function* rowsOf(list: readonly JsonValue[]): AsyncGenerator<JsonObject> {
  if (list.length > MOST_ITEMS) throw new PinError('list', 'must hold at most 10,000 items')
  for (const [at, row] of list.entries()) {
    if (!isJsonObject(row)) throw new PinError('list', `must be a list of objects; item ${at} is none`)
    yield row
  }
}

async function* documents(pages: AsyncIterable<readonly JsonValue[]>): AsyncGenerator<JsonObject> {
  for await (const page of pages) for (const row of page) if (isJsonObject(row)) yield row
}

interface Bounds {
  readonly cells: TableCells
  readonly counted: { rows: number }
  readonly signal: AbortSignal
  readonly most: number
}

/** The header, then the rows. */
async function* table(
  rows: AsyncIterable<JsonObject>,
  input: readonly RowColumn[] | undefined,
  { cells, counted, signal, most }: Bounds,
): AsyncGenerator<readonly (Cell | DateCell)[]> {
  const header = (columns: readonly RowColumn[]) => columns.map(({ label }) => label)
  let cellsOf = input && (await cells.prepare(input))
  if (input) yield header(input)
  for await (const row of rows) {
    signal.throwIfAborted()
    if (!cellsOf) {
      const columns = columnsOf(row)
      cellsOf = await cells.prepare(columns)
      yield header(columns)
    }
    counted.rows += 1
    if (counted.rows > most)
      throw new PinError('name', `names a sheet, which holds at most ${most} rows; write CSV`)
    yield cellsOf(row)
  }
}

async function* csvFile(rows: AsyncIterable<readonly (Cell | DateCell)[]>): AsyncGenerator<Buffer> {
  let text = BYTE_ORDER_MARK
  for await (const cells of rows) {
    text += `${cells.map(csvText).join(',')}\r\n`
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

/** Dates are texts where the file is no workbook. */
function csvText(cell: Cell | DateCell): string {
  return typeof cell === 'object' ? '' : csvCell(typeof cell === 'boolean' ? String(cell) : cell)
}

// How the columns of a table are written: by the rules of their fields, and what they refer to by its name.

interface Written {
  /** Undefined for the rows of a list. */
  readonly storage: string | undefined
  readonly references: readonly Reference[]
  readonly isSheet: boolean
  /** Whether what a field refers to is written by its name. */
  readonly byName: boolean
  readonly rulesOf: FlowContext['rules']
}

interface TableCells {
  /** References whose documents are needed. */
  expand(columns: readonly RowColumn[] | undefined): readonly Reference[]
  /** By column: the currency of its amounts; filled by `prepare`. */
  readonly currencies: (string | undefined)[]
  /** What makes the cells of a row. */
  prepare(columns: readonly RowColumn[]): Promise<(row: JsonObject) => readonly (Cell | DateCell)[]>
}

async function tableCells({ storage, references, isSheet, byName, rulesOf }: Written): Promise<TableCells> {
  const names = new Map<string, string>()
  for (const { field, storage: target } of byName ? references : []) {
    const [name] = namingFields(await rulesOf(target))
    if (name !== undefined) names.set(field, name)
  }
  const currencies: (string | undefined)[] = []
  const form = { isSheet, keepsBlanks: false }

  async function ruleOf({ field, reference }: RowColumn): Promise<FieldRule | undefined> {
    if (storage === undefined) return undefined
    const requested = reference ? field.slice(reference.field.length + 1) : field
    return (await rulesOf(reference?.storage ?? storage)).find(({ name }) => name === requested)
  }

  return {
    currencies,
    expand(columns) {
      const isNamed = ({ field }: Reference) =>
        names.has(field) && (columns?.some((column) => column.field === field) ?? true)
      const behind = new Set(columns?.flatMap(({ reference }) => reference ?? []))
      return references.filter((reference) => behind.has(reference) || isNamed(reference))
    },
    async prepare(columns) {
      const rules: (FieldRule | undefined)[] = []
      for (const column of columns) rules.push(await ruleOf(column))
      currencies.push(...rules.map((rule) => rule?.limits.currency))
      return (row) =>
        columns.map(({ field, value }, at) => {
          const name = names.get(field)
          return fieldCell(name === undefined ? value(row) : nameOrGuid(row, field, name), rules[at], form)
        })
    },
  }
}

const MOST_COLUMNS = 200
const LONGEST_LABEL = 200

/** One column of a table. */
interface RowColumn {
  readonly label: string
  /** As it is written: fields of other documents behind their reference. */
  readonly field: string
  /** What the field belongs to another document by. */
  readonly reference?: Reference
  readonly value: (row: JsonObject) => JsonValue | undefined
}

/** Fields by name, or `{ field, label }`; behind one of these references, of the document there. Throws PinError. */
function rowColumns(columns: readonly JsonValue[], references: readonly Reference[]): readonly RowColumn[] {
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
function columnsOf(row: JsonObject): readonly RowColumn[] {
  const names = Object.keys(row).filter((name) => name !== '_meta' && name !== '_expand')
  return names.slice(0, MOST_COLUMNS).map((label) => ({ label, field: label, value: (one) => one[label] }))
}
