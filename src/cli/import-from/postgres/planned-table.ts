/** A table of PostgreSQL as a storage: its fields, and the SQL that reads its rows. */
import { distinctNames, fieldNameFor, shownName } from '../fitting-names.ts'
import type { SourceField } from '../source.ts'
import type { CatalogColumn, CatalogReference, CatalogTable } from './catalog.ts'
import { type ColumnReading, columnReading, identifier, literal } from './column-types.ts'

/** Of one storage. */
const MOST_UNIQUE = 16
const MOST_REFERENCES = 16
const MOST_TOGETHER = 8

export interface PlannedColumn {
  readonly field: SourceField
  readonly sql: string
  readonly read: ColumnReading['read']
  /** Of a column of bytes, whose values are names of files: its name in the source. */
  readonly bytes?: string
}

export interface PlannedTable {
  readonly table: CatalogTable
  readonly storage: string
  /** In words. */
  readonly key: string
  readonly keySql: string
  readonly hasUniqueKey: boolean
  readonly columns: readonly PlannedColumn[]
}

export interface PlanContext {
  /** By their titles: all tables of the source. */
  readonly tables: ReadonlyMap<string, CatalogTable>
  /** Title of a table → its storage. */
  readonly storages: ReadonlyMap<string, string>
  readonly timeZone: string
  /** Column → kinds of JSON values. */
  readonly kinds: (column: string) => ReadonlySet<string>
  readonly isText: (field: string) => boolean
  readonly left: (line: string) => void
}

export function plannedTable(table: CatalogTable, context: PlanContext): PlannedTable {
  const storage = context.storages.get(table.title) ?? ''
  const distinct = distinctNames()
  const say = (column: string, line: string) =>
    context.left(`${shownName(table.title)}: ${shownName(column)} ${line}.`)
  const references = usableReferences(table, context, say)
  const uniques = uniqueColumns(table, say)
  const columns: PlannedColumn[] = []
  for (const [at, column] of table.columns.entries()) {
    const name = distinct(fieldNameFor(column.name, at + 1))
    const single = references.find(
      ({ columns: [only, ...others] }) => only === column.name && others.length === 0,
    )
    const label = name === column.name ? {} : { label: column.name }
    const unique = uniques.get(column.name)
    if (single) {
      const field: SourceField = {
        name,
        ...label,
        type: 'reference',
        ...leadsTo(single, context),
        ...(column.isNotNull && { required: true }),
        ...(unique !== undefined && { unique }),
      }
      columns.push(referenceColumn(field, single, context))
      continue
    }
    const reading = columnReading(column, {
      timeZone: context.timeZone,
      kinds: context.kinds(column.name),
      isText: context.isText(`${storage}.${name}`),
    })
    if (reading.unsaid !== undefined) say(column.name, reading.unsaid)
    if (reading.type === undefined) continue
    const { type, limits } = reading
    const field = {
      name,
      ...label,
      type,
      ...(limits && { limits }),
      ...needs(column, reading),
      ...(unique !== undefined && canBeUnique(reading) && { unique }),
    }
    const sql = reading.asText(`t.${identifier(column.name)}`)
    columns.push({ field, sql, read: reading.read, ...(type === 'file' && { bytes: column.name }) })
  }
  for (const reference of references.filter((one) => one.columns.length > 1)) {
    const name = distinct(fieldNameFor(reference.name, 0))
    columns.push(
      referenceColumn({ name, type: 'reference', ...leadsTo(reference, context) }, reference, context),
    )
    say(
      reference.columns.join(', '),
      `together refer to ${reference.target}: the reference is the field ${name}`,
    )
  }
  sayOfTable(table, columns, context)
  return { table, storage, columns, ...keyOf(table) }
}

function leadsTo({ target }: CatalogReference, { storages }: PlanContext): { readonly refersTo: string } {
  return { refersTo: storages.get(target) ?? '' }
}

type Say = (column: string, line: string) => void

/** Those that lead to a table of the source, of a column one at most. */
function usableReferences(table: CatalogTable, context: PlanContext, say: Say): readonly CatalogReference[] {
  const usable: CatalogReference[] = []
  for (const reference of table.references) {
    const columns = reference.columns.join(', ')
    const isKnown = context.tables.has(reference.target)
    const isTaken = usable.some((one) => one.columns.length === 1 && one.columns[0] === columns)
    if (!isKnown) say(columns, `refers to ${reference.target}, which is not imported: it stays a plain value`)
    else if (isTaken) say(columns, `refers to ${reference.target} as well, which a field cannot`)
    else if (usable.length === MOST_REFERENCES)
      say(
        columns,
        `refers to ${reference.target}, but a storage has at most ${MOST_REFERENCES} references: it stays a plain value`,
      )
    else usable.push(reference)
  }
  return usable
}

/** Column → what its field says of it. A column of two keys is unique by the first. */
function uniqueColumns({ keys }: CatalogTable, say: Say): ReadonlyMap<string, true | string> {
  const uniques = new Map<string, true | string>()
  const distinct = distinctNames()
  let count = 0
  for (const { name, columns } of keys.toSorted((a, b) => Number(b.isPrimary) - Number(a.isPrimary))) {
    const isTaken = columns.some((column) => uniques.has(column))
    if (isTaken || count === MOST_UNIQUE || columns.length > MOST_TOGETHER) {
      say(columns.join(', '), `must differ by ${name}, which is not said`)
      continue
    }
    count += 1
    const [only, ...others] = columns
    const together = distinct(
      name
        .replace(/[^A-Za-z0-9_]+/g, '_')
        .replace(/^[^A-Za-z]+/, '')
        .slice(0, 55) || 'key',
    )
    for (const column of columns)
      uniques.set(column, others.length === 0 && only === column ? true : together)
  }
  return uniques
}

function canBeUnique({ type }: ColumnReading): boolean {
  return !['object', 'array', 'list', 'choices', 'file'].includes(type)
}

/** An empty text, list, object or file counts as missing in Quoin, and not in PostgreSQL. */
function needs(column: CatalogColumn, { type }: ColumnReading): { readonly required?: true } {
  const mayBeEmpty = ['string', 'long_text', 'object', 'array', 'list', 'choices', 'file'].includes(type)
  return column.isNotNull && !mayBeEmpty ? { required: true } : {}
}

function sayOfTable(table: CatalogTable, columns: readonly PlannedColumn[], { left }: PlanContext): void {
  const title = shownName(table.title)
  const listed = (line: string, of: readonly CatalogColumn[]) => {
    if (of.length > 0) left(`${title}: ${of.map(({ name }) => shownName(name)).join(', ')} ${line}.`)
  }
  listed(
    'may hold an empty text, list or file, so that the field is not required',
    table.columns.filter(
      ({ name, isNotNull }) =>
        isNotNull && columns.some(({ field }) => (field.label ?? field.name) === name && !field.required),
    ),
  )
  listed(
    'counts up in the source, and does not here',
    table.columns.filter(({ countsUp }) => countsUp),
  )
  listed(
    'is calculated in the source: its present values are imported',
    table.columns.filter(({ isGenerated }) => isGenerated),
  )
  listed(
    'has a default, which is not taken over',
    table.columns.filter(({ hasDefault, countsUp, isGenerated }) => hasDefault && !countsUp && !isGenerated),
  )
  if (table.rules.length > 0) left(`${title}: not taken over: ${table.rules.map(shownName).join(', ')}.`)
  if (!identity(table))
    left(
      `${title} has no key: rows are found again by what they hold. One that changes becomes a new document, and the former one stays.`,
    )
}

/** The columns by which rows are found again: the primary key, else a key whose columns are never null. */
function identity({ keys, columns }: CatalogTable): readonly string[] | undefined {
  const isThere = (name: string) => columns.some((column) => column.name === name && column.isNotNull)
  const found = keys.find(({ isPrimary }) => isPrimary) ?? keys.find((key) => key.columns.every(isThere))
  return found?.columns
}

function keyText(columns: readonly string[], alias: string): string {
  const [only, ...others] = columns.map((name) => `${alias}.${identifier(name)}::text`)
  return others.length === 0
    ? (only ?? literal(''))
    : `json_build_array(${[only, ...others].join(', ')})::text`
}

function keyOf(table: CatalogTable): Pick<PlannedTable, 'key' | 'keySql' | 'hasUniqueKey'> {
  const columns = identity(table)
  if (columns) return { key: columns.join(', '), keySql: keyText(columns, 't'), hasUniqueKey: true }
  const number = 'row_number() OVER (PARTITION BY md5(t::text))'
  return { key: 'what it holds', keySql: `md5(t::text) || '-' || ${number}`, hasUniqueKey: true }
}

/** The key of the row that is referred to: of the own columns, or looked up where they are not its key. */
function referenceColumn(
  field: SourceField,
  reference: CatalogReference,
  { tables }: PlanContext,
): PlannedColumn {
  const target = tables.get(reference.target)
  const key = target && identity(target)
  const own = key?.map((name) => reference.columns[reference.targetColumns.indexOf(name)])
  const read = (value: string) => ({ value })
  const isNull = reference.columns.map((name) => `t.${identifier(name)} IS NULL`).join(' OR ')
  if (own?.every((name) => name !== undefined))
    return { field, read, sql: `CASE WHEN ${isNull} THEN NULL ELSE ${keyText(own, 't')} END` }
  const same = reference.columns.map(
    (name, at) => `t.${identifier(name)} = o.${identifier(reference.targetColumns[at] ?? '')}`,
  )
  const from = target ? `${identifier(target.schema)}.${identifier(target.name)}` : ''
  return {
    field,
    read,
    sql: `(SELECT ${keyText(key ?? [], 'o')} FROM ${from} AS o WHERE ${same.join(' AND ')})`,
  }
}
