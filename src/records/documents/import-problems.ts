/** Lines of a file that cannot become documents. */

import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { fieldValueProblem, isAutomatic, isFilledIn } from '../../shared/field-rule.ts'
import { setFields } from '../../shared/mutation.ts'
import { patternBudget, TooMuchToMatch } from '../../shared/texts/pattern-budget.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import type { Database, Origin } from '../../storage/database.ts'
import { createRows } from './import-batch.ts'
import { causeOf, type FileColumn, type ImportRow, type LineProblem, lineProblem } from './import-rows.ts'
import type { Reasons } from './read-row.ts'

const MOST = 100
/** With their cells, of which there are at most so many characters. */
const MOST_DETAILED = 1_000
const MOST_CHARACTERS = 4_000_000
/** Of line numbers from and to which all are refused. */
const MOST_RANGES = 20_000

export class ProblemList {
  readonly first: LineProblem[] = []
  total = 0
  /** Of the file, where the cells are listed. */
  columns: readonly FileColumn[] = []
  readonly #ranges: { readonly from: number; to: number }[] = []
  readonly #most: number
  readonly #detailed: boolean
  #characters = 0

  /** `detailed`: with the cells of each line, and what is wrong with each of its fields. */
  constructor(detailed: boolean) {
    this.#detailed = detailed
    this.#most = detailed ? MOST_DETAILED : MOST
  }

  /** In the order of the lines. */
  add(row: ImportRow, error: unknown): void {
    const isListed = this.first.length < this.#most
    const problem =
      isListed && this.#detailed ? this.#withinBounds(wrongCells(row, error)) : lineProblem(row.line, error)
    this.total += 1
    if (this.#detailed) this.columns = row.columns ?? []
    if (isListed) this.first.push(problem)
    this.#count(row.line)
  }

  get isFull(): boolean {
    return this.total >= this.#most
  }

  /** `3, 5-9`: all refused lines; ends with `…` where that would be too long. */
  get lines(): string {
    const texts = this.#ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
    return [...texts, ...(texts.length === MOST_RANGES ? ['…'] : [])].join(', ')
  }

  #count(line: number): void {
    const last = this.#ranges.at(-1)
    if (last && line === last.to + 1) last.to = line
    else if (this.#ranges.length < MOST_RANGES) this.#ranges.push({ from: line, to: line })
  }

  #withinBounds({ cells = [], ...problem }: LineProblem): LineProblem {
    for (const cell of cells) this.#characters += String(cell).length
    return this.#characters > MOST_CHARACTERS ? problem : { ...problem, cells }
  }
}

/** What is wrong with each field of a line, as far as that can be said without the storage, and its cells. */
export function wrongCells(row: ImportRow, error: unknown): LineProblem {
  const { fields = [], message, reasons: input } = causeOf(error)
  const [field] = fields
  const known = input ?? (field === undefined ? {} : { [field]: message })
  const reasons = { ...known, ...otherReasons(row, known) }
  const { cells } = row
  return {
    line: row.line,
    fields: [...new Set([...fields, ...Object.keys(reasons)])],
    message,
    reasons,
    ...(cells && { cells: cells() }),
  }
}

/** Of fields whose values can be read and break their own rule. */
function otherReasons({ read, rules = [] }: ImportRow, known: Reasons): Reasons {
  if (Object.keys(known).length === 0) return {}
  const { _meta, ...fields } = read().document
  const document = applyMutations({}, setFields(fields))
  const spend = patternBudget()
  const reasons: Record<string, string> = {}
  for (const rule of rules) {
    if (Object.hasOwn(known, rule.name) || isAutomatic(rule) || rule.reference) continue
    const value = valueAt(document, parseFieldPath(rule.name))
    if (value === undefined && isFilledIn(rule)) continue
    try {
      const problem = fieldValueProblem(rule, value, spend)
      if (problem !== undefined) reasons[rule.name] = `${rule.name} ${problem}.`
    } catch (error) {
      if (error instanceof TooMuchToMatch) break
      throw error
    }
  }
  return reasons
}

/** The error of an import that is refused because of these lines: that of the first, with all of them in its details. */
export function refusedLines(first: unknown, { first: lines, columns }: ProblemList): unknown {
  if (!(first instanceof QuoinError)) return first
  return new QuoinError(first.code, first.message, {
    ...(first.fields && { fields: first.fields }),
    details: {
      lines: lines.map(sentProblem),
      ...(columns.length > 0 && { columns: columns.map((one) => ({ ...one })) }),
    },
    cause: first,
  })
}

export function sentProblem({ fields, cells, reasons, ...problem }: LineProblem) {
  return {
    ...problem,
    fields: [...fields],
    ...(reasons && { reasons: { ...reasons } }),
    ...(cells && { cells: [...cells] }),
  }
}

/** Throws the error of the first line that would be refused; its details list the first ones. Writes nothing. */
export async function tryRows(
  database: Database,
  name: string,
  batches: AsyncIterable<readonly ImportRow[]>,
  { origin, detailed }: { readonly origin: Origin; readonly detailed: boolean },
): Promise<void> {
  const problems = new ProblemList(detailed)
  let first: unknown
  for await (const batch of batches) {
    const session = database.session({ ...origin, trial: true })
    try {
      await createRows(session, name, batch, (row, error) => {
        first ??= error
        problems.add(row, error)
      })
    } finally {
      await session.transaction.rollback()
    }
    if (problems.isFull) break
    await yieldToEventLoop()
  }
  if (first !== undefined) throw refusedLines(first, problems)
}
