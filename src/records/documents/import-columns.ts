/** Which column of a file goes into which field, and what its texts mean there. */
import type { Cell } from '../../blocks/rows/xlsx-file.ts'
import { isMarked, plainCell } from '../../shared/csv-cell.ts'
import { QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import { type FieldType, fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { type ReadText, type TextDialect, valueOfText } from '../../shared/fields/value-of-text.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { type ColumnFormat, dialectOfFormat } from '../../shared/rows/recognized-table.ts'
import { composedText } from '../../shared/texts/composed-text.ts'
import { unusedFormerNames } from '../fields/field-migration.ts'
import type { NamedReference } from './named-references.ts'
import type { ReadRow } from './read-row.ts'

/** Column → field; null leaves the column out. Columns that it does not name go where their name says. */
export type ColumnMapping = Readonly<Record<string, string | null>>

/** Column → how its texts write numbers or days, where that is not as the rest of the file does. */
export type ColumnFormats = Readonly<Record<string, ColumnFormat>>

export interface ColumnTarget {
  readonly column: string
  /** Dotted name of the field; undefined: the column is left out. */
  readonly field: string | undefined
  readonly type: FieldType
  readonly limits: FieldLimits
  /** No field of the storage says what it holds. */
  readonly free?: boolean
  readonly dialect?: TextDialect
  /** It has no name, and is not said to be left out: it must be empty. */
  readonly isUnnamed?: boolean
}

/** What a document may bring along from where it was before. */
const META = ['_meta.guid', '_meta.created', '_meta.expiry']

/** What the storage says of its fields, and the paths by which their documents can be named. */
export interface KnownFields {
  readonly rules: readonly FieldRule[]
  readonly named: readonly NamedReference[]
}

interface ColumnReading extends KnownFields {
  readonly mapping: ColumnMapping
  readonly formats: ColumnFormats
}

/** INVALID_BODY for a column that cannot be a field, and for two columns of one field. */
export function columnTargets(
  columns: readonly string[],
  { rules, named, mapping, formats }: ColumnReading,
): readonly ColumnTarget[] {
  const present = new Set(columns)
  for (const [place, names] of Object.entries({ mapping, formats }))
    for (const column of Object.keys(names))
      if (!present.has(column))
        throw wrong(`${place} names the column ${JSON.stringify(column)}, which the file does not have.`)
  const taken = new Set<string>()
  const usual = new Set(columns.map((column) => usualField(column, rules)))
  return columns.map((column) => {
    const field = Object.hasOwn(mapping, column)
      ? (mapping[column] ?? undefined)
      : withoutOthers(usualField(column, rules), named, usual)
    if (field === undefined) {
      const isUnnamed = column.trim() === '' && !Object.hasOwn(mapping, column)
      return { column, field, type: 'string', limits: {}, ...(isUnnamed && { isUnnamed }) }
    }
    const problem = field.startsWith('_meta')
      ? META.includes(field)
        ? undefined
        : 'is written by Quoin'
      : fieldNameProblem(field)
    if (problem)
      throw wrong(
        `The column ${JSON.stringify(column)} cannot go into ${JSON.stringify(field)}: that ${problem}.`,
      )
    if (taken.has(field)) throw wrong(`Two columns go into the field ${field}. Leave one of them out.`)
    taken.add(field)
    const format = Object.hasOwn(formats, column) ? formats[column] : undefined
    return { column, field, ...typeOf(field, rules), ...(format && { dialect: dialectOfFormat(format) }) }
  })
}

function typeOf(field: string, rules: readonly FieldRule[]): Pick<ColumnTarget, 'type' | 'limits' | 'free'> {
  const rule = namesOf(rules).exact.get(field)
  if (rule) return { type: rule.type, limits: rule.limits }
  return isTime(field) ? { type: 'number', limits: {} } : { type: 'string', limits: {}, free: true }
}

/** By name, else by label or a former name, without regard to case and composition; else a new field, if the column has a name that one can have. */
function usualField(column: string, rules: readonly FieldRule[]): string | undefined {
  const typed = composedText(column.trim())
  const folded = typed.toLowerCase()
  const { exact, names, labels, formerNames } = namesOf(rules)
  if (folded === '') return undefined
  if (folded.startsWith('_meta')) return META.includes(folded) ? folded : undefined
  const rule = exact.get(column.trim()) ?? names.get(folded) ?? labels.get(folded) ?? formerNames.get(folded)
  // What Quoin writes is not read, so that an export can be imported.
  if (rule) return fieldTypeEntries[rule.type].automatic || rule.computed ? undefined : rule.name
  return fieldNameProblem(typed) ? undefined : typed
}

/** Whether a column of this name goes into a field that the storage has. */
export function isKnownColumn(column: string, rules: readonly FieldRule[]): boolean {
  const field = usualField(column, rules)
  return field !== undefined && (META.includes(field) || namesOf(rules).exact.has(field))
}

/** The first field of each name, and of each folded name, label and former name. */
interface FieldNames {
  readonly exact: ReadonlyMap<string, FieldRule>
  readonly names: ReadonlyMap<string, FieldRule>
  readonly labels: ReadonlyMap<string, FieldRule>
  readonly formerNames: ReadonlyMap<string, FieldRule>
}

/** By the rules of a reading: 500 columns of 20 lines that are compared with each of 500 fields take a second. */
const knownNames = new WeakMap<readonly FieldRule[], FieldNames>()

function namesOf(rules: readonly FieldRule[]): FieldNames {
  const known = knownNames.get(rules)
  if (known) return known
  const lastFirst = rules.toReversed()
  const folded = (name: string) => composedText(name).toLowerCase()
  const made = {
    exact: new Map(lastFirst.map((rule) => [rule.name, rule])),
    names: new Map(lastFirst.map((rule) => [folded(rule.name), rule])),
    labels: new Map(
      lastFirst.flatMap((rule) => (rule.label === undefined ? [] : [[folded(rule.label), rule]])),
    ),
    formerNames: new Map(
      lastFirst.flatMap((rule) => unusedFormerNames(rule, rules).map((name) => [folded(name), rule])),
    ),
  }
  knownNames.set(rules, made)
  return made
}

/** Fields of the document that is referred to are read only where they name it and the reference itself is no column: an export has both. */
function withoutOthers(
  field: string | undefined,
  named: readonly NamedReference[],
  usual: ReadonlySet<string | undefined>,
): string | undefined {
  const reference = named.find((one) => field?.startsWith(`${one.field}.`))?.field
  if (reference === undefined) return field
  return named.some(({ path }) => path === field) && !usual.has(reference) ? field : undefined
}

function isTime(field: string): boolean {
  return field === '_meta.created' || field === '_meta.expiry'
}

/**
 * The document of a row. An empty cell leaves its field out, so that defaults count. Numbers and conditions of a workbook stay what
 * they are where no field says else.
 */
export function documentOfCells(
  targets: readonly ColumnTarget[],
  cells: readonly Cell[],
  dialect: TextDialect,
): ReadRow {
  if (cells.slice(targets.length).some((cell) => String(cell).trim() !== ''))
    throw wrong(
      `There ${cells.length === 1 ? 'is 1 cell' : `are ${cells.length} cells`}, but the file has ${targets.length === 1 ? '1 column' : `${targets.length} columns`}.`,
    )
  const document: Record<string, JsonValue> = {}
  const meta: Record<string, JsonValue> = {}
  const reasons: Record<string, string> = {}
  for (const [i, target] of targets.entries()) {
    const { column, field } = target
    if (field === undefined) {
      if (target.isUnnamed && String(cells[i] ?? '').trim() !== '')
        throw wrong(
          `There is a value in column ${i + 1}, which has no name in the line of the names. Name the column, or skip it.`,
        )
      continue
    }
    const read = valueOfCell(target, cells[i] ?? '', { ...dialect, ...target.dialect })
    if ('problem' in read) reasons[field] = `The value of ${column} ${read.problem}.`
    else if (read.value === null) continue
    else if (field.startsWith('_meta.')) meta[field.slice(6)] = read.value
    else document[field] = read.value
  }
  return { document: Object.keys(meta).length > 0 ? { ...document, _meta: meta } : document, reasons }
}

const texts: ReadonlySet<FieldType> = new Set(['string', 'line', 'long_text'])

function valueOfCell({ type, limits, free }: ColumnTarget, cell: Cell, dialect: TextDialect): ReadText {
  if (typeof cell !== 'string') return free ? { value: cell } : valueOfText({ type, limits }, String(cell))
  const text = plainCell(cell)
  if (isMarked(cell) && texts.has(type) && !limits.choices) return { value: text }
  return valueOfText({ type, limits }, text, dialect)
}

/** The same object with its fields under other names. */
export function mappedObject(object: JsonObject, mapping: ColumnMapping): JsonObject {
  const mapped: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(mapping, name) ? mapping[name] : name
    if (field === null || field === undefined) continue
    if (Object.hasOwn(mapped, field)) throw wrong(`Two fields go into the field ${field}.`, [field])
    mapped[field] = value
  }
  return mapped
}

function wrong(message: string, fields?: readonly string[]): QuoinError {
  return new QuoinError('INVALID_BODY', message, fields ? { fields } : {})
}
