/** How the columns of a table are written: by the rules of their fields, and what they refer to by its name. */
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { namingFields } from '../../storage/reference/reference-by-name.ts'
import type { Reference } from '../../storage/reference/references.ts'
import type { FlowContext } from '../context.ts'
import { fieldCell, nameOrGuid } from '../rows/field-cell.ts'
import type { Cell, DateCell } from '../rows/xlsx-file.ts'
import type { RowColumn } from './row-columns.ts'

interface Written {
  /** Undefined for the rows of a list. */
  readonly storage: string | undefined
  readonly references: readonly Reference[]
  readonly isSheet: boolean
  /** Whether what a field refers to is written by its name. */
  readonly byName: boolean
  readonly rulesOf: FlowContext['rules']
}

export interface TableCells {
  /** References whose documents are needed. */
  expand(columns: readonly RowColumn[] | undefined): readonly Reference[]
  /** By column: the currency of its amounts; filled by `prepare`. */
  readonly currencies: (string | undefined)[]
  /** What makes the cells of a row. */
  prepare(columns: readonly RowColumn[]): Promise<(row: JsonObject) => readonly (Cell | DateCell)[]>
}

export async function tableCells({
  storage,
  references,
  isSheet,
  byName,
  rulesOf,
}: Written): Promise<TableCells> {
  const names = new Map<string, string>()
  for (const { field, storage: target } of byName ? references : []) {
    const [name] = namingFields(await rulesOf(target))
    if (name !== undefined) names.set(field, name)
  }
  const currencies: (string | undefined)[] = []
  const form = { isSheet, keepsBlanks: false }

  async function ruleOf({ field, reference }: RowColumn): Promise<FieldRule | undefined> {
    if (storage === undefined) return undefined
    const wanted = reference ? field.slice(reference.field.length + 1) : field
    return (await rulesOf(reference?.storage ?? storage)).find(({ name }) => name === wanted)
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
