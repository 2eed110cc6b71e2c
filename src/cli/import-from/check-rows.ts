/** Reads a whole source before anything is written: how many rows it has, and which of them no document can be. */
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { isFileRule, type RowProblem, type SourceField, type SourceRow, type SourceTable } from './source.ts'

/** Of each table, in memory and printed. */
const MOST_PROBLEMS = 100
/** Keys that are compared with each other: about 100 MB. */
const MOST_KEYS = 1_000_000

export interface PlacedProblem extends RowProblem {
  readonly place: string
}

export interface CheckedTable {
  readonly table: SourceTable
  readonly rows: number
  /** Rows that are left out. */
  readonly refused: number
  /** Of the first of them. */
  readonly problems: readonly PlacedProblem[]
  /** There are too many rows to compare the keys of all. */
  readonly hasUncheckedKeys: boolean
  /** Files that become assets, and their bytes. */
  readonly files: number
  readonly bytes: number
  /** Files that are left out. */
  readonly missing: number
  /** The first of them. */
  readonly missingFiles: readonly PlacedProblem[]
}

export function ruleOfField(storage: string, { name, type, limits = {}, required }: SourceField): FieldRule {
  return { name, storage, type, limits, required: required ?? false, defaultValue: undefined }
}

/** What keeps a row from being a document. */
export function problemsOf(row: SourceRow, rules: readonly FieldRule[]): readonly RowProblem[] {
  const found = [...row.problems]
  const spend = patternBudget()
  for (const rule of rules) {
    const value = row.values[rule.name] ?? null
    // Files become values when they are stored.
    if (found.some(({ field }) => field === rule.name) || isFileRule(rule)) continue
    // A reference is the key of another row until it is written.
    const problem = fieldValueProblem(
      rule.type === 'reference' && value !== null ? { ...rule, type: 'string' } : rule,
      value,
      spend,
    )
    if (problem !== undefined) found.push({ field: rule.name, value, problem })
  }
  return found
}

/** `counted`: is told the number of rows from time to time. */
export async function checkRows(table: SourceTable, counted: (rows: number) => void): Promise<CheckedTable> {
  const rules = table.fields.map((field) => ruleOfField(table.storage, field))
  const problems: PlacedProblem[] = []
  const keys = new Set<string>()
  const files = countedFiles()
  let rows = 0
  let refused = 0
  for await (const row of table.rows()) {
    rows += 1
    files.add(row)
    const found = [...problemsOf(row, rules), ...sameKey(row, table, keys)]
    if (found.length > 0) {
      refused += 1
      for (const problem of found)
        if (problems.length < MOST_PROBLEMS) problems.push({ ...problem, place: row.place })
    }
    if (rows % 1_000 === 0) counted(rows)
  }
  const hasUncheckedKeys = table.hasUniqueKey !== true && rows > MOST_KEYS
  return { table, rows, refused, problems, hasUncheckedKeys, ...files.count }
}

function countedFiles() {
  const missingFiles: PlacedProblem[] = []
  const count = { files: 0, bytes: 0, missing: 0, missingFiles }
  return {
    count,
    add({ place, files = {}, missing = [] }: SourceRow) {
      for (const { size } of Object.values(files).flat()) {
        count.files += 1
        count.bytes += size
      }
      for (const problem of missing) {
        count.missing += 1
        if (missingFiles.length < MOST_PROBLEMS) missingFiles.push({ ...problem, place })
      }
    },
  }
}

function sameKey(row: SourceRow, table: SourceTable, keys: Set<string>): readonly RowProblem[] {
  if (table.hasUniqueKey || (keys.size >= MOST_KEYS && !keys.has(row.key))) return []
  if (!keys.has(row.key)) {
    keys.add(row.key)
    return []
  }
  return [{ field: table.key, value: row.key, problem: 'is the key of an earlier row' }]
}
