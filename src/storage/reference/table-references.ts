/**
 * What a data table shows of documents that its own refer to: a column such as `customer.name`, and in the column `customer` the
 * name of the customer, which is the first text among the fields of its storage. One further search for each storage.
 */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { shownName } from '../../shared/fields/field-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { safeHref } from '../../shared/pages/page-content.ts'
import type { DataTable, TableColumn, TableRow } from '../../shared/pages/page-table.ts'
import type { Found, Session } from '../database.ts'
import { guidOf, objectsIn } from '../document-fields.ts'
import { documentsOf } from '../find-documents.ts'
import { expandDocuments } from './expand-documents.ts'
import { type Reference, referencesIn } from './references.ts'

type RulesOf = (storage: string) => MaybePromise<readonly FieldRule[]>

export interface TableReferences {
  readonly all: readonly Reference[]
  /** By the field of a reference: the field of the other document that is its name. */
  readonly names: ReadonlyMap<string, string>
}

const none: TableReferences = { all: [], names: new Map() }

export async function tableReferences(
  { storage, columns }: Pick<DataTable, 'storage' | 'columns'>,
  rulesOf: RulesOf,
): Promise<TableReferences> {
  const all = referencesIn(await rulesOf(storage)).of(storage)
  if (all.length === 0) return none
  const names = new Map<string, string>()
  for (const reference of all) {
    if (!columns.some(({ field }) => field === reference.field)) continue
    const name = shownName(await rulesOf(reference.storage), reference.storage)
    if (name !== undefined) names.set(reference.field, name)
  }
  return { all, names }
}

/** Nothing is sorted by fields of other documents, nor searched for words there. */
export function withoutSorts(table: DataTable, { all }: TableReferences): DataTable {
  if (all.length === 0) return table
  return {
    ...table,
    columns: table.columns.map((column): TableColumn => {
      if (!isBehind(column.field, all)) return column
      const { filter, ...rest } = column
      return { ...rest, sortable: false, ...(filter !== undefined && filter !== 'text' && { filter }) }
    }),
  }
}

/** Whether the field is one of another document. */
export function isBehind(field: string, references: readonly Reference[]): boolean {
  return references.some((reference) => field.startsWith(`${reference.field}.`))
}

/** The documents of a page with those that these columns show something of. */
export async function rowDocuments(
  session: Session,
  found: Found,
  columns: readonly Pick<TableColumn, 'field'>[],
  { all }: TableReferences,
): Promise<readonly JsonObject[]> {
  const shown = all.filter((reference) => columns.some(({ field }) => referenceOf(field, [reference])))
  if (shown.length === 0) return documentsOf(found)
  const { value } = await expandDocuments(session, found.documents, shown)
  return objectsIn(value)
}

export function cellOf(
  document: JsonObject,
  field: string,
  { all, names }: TableReferences,
): JsonValue | undefined {
  const reference = referenceOf(field, all)
  if (reference === undefined) return valueAt(document, parseFieldPath(field))
  const expanded = isJsonObject(document._expand) ? document._expand[reference.field] : undefined
  const target = isJsonObject(expanded) ? expanded : undefined
  if (field !== reference.field)
    return target && valueAt(target, parseFieldPath(field.slice(reference.field.length + 1)))
  const name = names.get(field)
  const shown = target && name !== undefined ? valueAt(target, parseFieldPath(name)) : undefined
  return shown ?? valueAt(document, parseFieldPath(field))
}

function referenceOf(field: string, references: readonly Reference[]): Reference | undefined {
  return references.find((one) => field === one.field || field.startsWith(`${one.field}.`))
}

/** A document as a row with these cells. `link`: as `rowLink` of a data table. */
export function tableRow(
  link: string | undefined,
  document: JsonObject,
  cells: readonly (JsonValue | undefined)[],
): TableRow {
  const href = link === undefined ? undefined : rowHref(link, document)
  return {
    key: guidOf(document),
    ...(href !== undefined && { href }),
    cells: cells.map((cell) => cell ?? null),
  }
}

/** `/tasks/{_meta.guid}` with the document's values, each as one part of the path. Undefined when one is missing. */
function rowHref(pattern: string, document: JsonObject): string | undefined {
  let missing = false
  const href = pattern.replace(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const value: JsonValue | undefined = valueAt(document, name.split('.'))
    missing ||= value === undefined || value === null || typeof value === 'object'
    return encodeURIComponent(String(value))
  })
  return missing ? undefined : safeHref(href)
}
