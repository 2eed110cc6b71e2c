/**
 * What the cells of a table show: what the documents hold, or what the expression of a column makes of it. An expression that
 * fails in a row shows an empty cell there, and its first failure is reported for the column.
 */

import { compileCell } from '../expressions/functions/cell-expression.ts'
import { ExpressionError } from '../expressions/language/expression-error.ts'
import type { FunctionContext } from '../expressions/language/function-declaration.ts'
import { yieldToEventLoop } from '../shared/cooperative.ts'
import { elementsOf } from '../shared/expression-work.ts'
import { isLargerThan, type JsonObject, type JsonValue } from '../shared/json.ts'
import type { DataTable, TableColumn } from '../shared/pages/page-table.ts'
import type { Found, Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { cellOf, rowDocuments, type TableReferences } from '../storage/reference/table-references.ts'

/** Elements of lists that one cell may look at. Names of a further locale cost 2,000, and a cell may need two kinds of them. */
const MOST_ELEMENTS = 6_000
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 10_000
/** In all calculated cells of a page together: 40 for each cell of 500 rows with 100 columns. */
const MOST_ON_PAGE = 2_000_000
/** Cells and elements of lists until other work has its turn. */
const TURN = 500

export interface CellContext {
  /** IANA. */
  readonly timeZone: string
  /** BCP 47. */
  readonly locale: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly failed: (failure: CellFailure) => void
}

export interface CellFailure {
  /** Guid of the block of the table. */
  readonly block: string
  /** Field of the column. */
  readonly column: string
  readonly message: string
}

type Shown = Pick<DataTable, 'block' | 'id'>

export interface ShownRow {
  readonly document: JsonObject
  /** One for each column; undefined for what is not there. */
  readonly cells: readonly (JsonValue | undefined)[]
}

/** A message for a cell that is too large or looks at too much. */
class TooMuch extends Error {}

/** The documents of one page of a table, with what these columns show of each. */
export async function shownRows(
  session: Session,
  found: Found,
  {
    table,
    columns,
    references,
  }: { table: Shown; columns: readonly TableColumn[]; references: TableReferences },
  cellContext: CellContext,
): Promise<readonly ShownRow[]> {
  const fields = references.all.map(({ field }) => field)
  const calculated = columns.map(({ cell }) => (cell === undefined ? undefined : compileCell(cell, fields)))
  const read = calculated.flatMap((one) => one?.reads ?? []).map((field) => ({ field }))
  const documents = await rowDocuments(session, found, [...columns, ...read], references)
  if (calculated.every((one) => one === undefined))
    return documents.map((document) => ({
      document,
      cells: columns.map(({ field }) => cellOf(document, field, references)),
    }))
  const budget = cellBudget(cellContext)
  const failures = new Map<TableColumn, { readonly guid: string; readonly reason: string; count: number }>()
  const rows: ShownRow[] = []
  for (const document of documents) {
    const cells: (JsonValue | undefined)[] = []
    for (const [at, column] of columns.entries()) {
      const value = cellOf(document, column.field, references)
      const expression = calculated[at]
      if (!expression) {
        cells.push(value)
        continue
      }
      if (budget.turnIsOver()) await yieldToEventLoop()
      try {
        cells.push(budget.evaluate((context) => expression.evaluate({ doc: document, value, context })))
      } catch (error) {
        if (!(error instanceof ExpressionError || error instanceof TooMuch)) throw error
        const known = failures.get(column)
        if (known) known.count += 1
        else failures.set(column, { guid: guidOf(document), reason: error.message, count: 1 })
        cells.push(undefined)
      }
    }
    rows.push({ document, cells })
  }
  for (const [{ field }, { guid, reason, count }] of failures)
    cellContext.failed({
      block: table.block,
      column: field,
      message: `The table ${table.id} shows nothing in the column ${field} of ${count} of ${rows.length} rows, whose format cannot be calculated. In the document ${guid}: ${reason}`,
    })
  return rows
}

/** What is left for the calculated cells of one page. */
function cellBudget({ timeZone, locale, now }: CellContext) {
  let characters = MOST_ON_PAGE
  let elements = 0
  let work = 0
  const context: FunctionContext = {
    timeZone,
    locale,
    now: () => now,
    random: () => {
      throw new TooMuch('What a cell shows cannot be random.')
    },
    spend(more, work) {
      elements += elementsOf(more, work)
      if (elements > MOST_ELEMENTS)
        throw new TooMuch(`It looks at more than ${MOST_ELEMENTS.toLocaleString('en-US')} elements of lists.`)
    },
  }
  return {
    turnIsOver(): boolean {
      if (work < TURN) return false
      work = 0
      return true
    },
    /** Throws TooMuch. */
    evaluate(calculate: (context: FunctionContext) => unknown): JsonValue | undefined {
      if (characters <= 0) throw new TooMuch('The page has too many long texts: show fewer rows or columns.')
      elements = 0
      // Expressions give JSON or nothing, which the types of the language do not say.
      const value = calculate(context) as JsonValue | undefined
      work += 1 + elements
      if (isLargerThan(value, MOST_VALUES, MOST_CHARACTERS))
        throw new TooMuch(
          `It gives more than ${MOST_CHARACTERS.toLocaleString('en-US')} characters or ${MOST_VALUES.toLocaleString('en-US')} values.`,
        )
      characters -= typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
      return value
    },
  }
}
