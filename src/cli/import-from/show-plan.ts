/** What an import would do, as lines for people. */
import type { FieldRule } from '../../shared/field-rule.ts'
import type { CheckedTable, PlacedProblem } from './check-rows.ts'
import { shownName } from './fitting-names.ts'
import type { OrderedTable, SourceField } from './source.ts'

/** Of a value that is printed. */
const LONGEST_VALUE = 60

/** `customers (customers.csv): 3 rows, found again by id` and a line for each of its fields. */
export function tableLines(
  { table, rows, files, bytes }: CheckedTable,
  present: readonly FieldRule[] | undefined,
): readonly string[] {
  const exists = present === undefined ? '' : ', into the storage that is there'
  return [
    `${table.storage} (${table.title}): ${counted(rows, 'row')}${files > 0 ? ` and ${counted(files, 'file')} of ${counted(bytes, 'byte')}` : ''}, found again by ${table.key}${exists}`,
    ...table.fields.map((field) => {
      const known = present?.find(({ name }) => name === field.name)
      return `  ${field.name}\t${fieldText(field)}${known ? presentText(known, field) : ''}`
    }),
  ]
}

function fieldText({ type, limits = {}, required, unique, refersTo, label }: SourceField): string {
  const { choices, places, max_length: longest, items } = limits
  const parts = [
    refersTo === undefined ? type : `reference to ${refersTo}`,
    ...(places === undefined ? [] : [`${places} places`]),
    ...(items === undefined ? [] : [`of ${items}`]),
    ...(choices === undefined ? [] : [`of ${choices.length} choices`]),
    ...(longest === undefined ? [] : [`at most ${longest} characters`]),
    ...(required ? ['required'] : []),
    ...(unique === undefined ? [] : [unique === true ? 'unique' : `unique with ${unique}`]),
    ...(label === undefined ? [] : [`was ${shownName(label)}`]),
  ]
  return parts.join(', ')
}

function presentText(known: FieldRule, field: SourceField): string {
  return known.type === field.type ? ' (is there)' : ` (is there as ${known.type}, and stays that)`
}

/** Of a circle of references a field that is required cannot be: its document comes later. */
export function circleLines(ordered: readonly OrderedTable[]): readonly string[] {
  return ordered.flatMap(({ table, deferred }) =>
    table.fields
      .filter(({ name, required }) => required === true && deferred.has(name))
      .map(({ name }) => `${table.storage}.${name} is not required: it is part of a circle of references.`),
  )
}

/** Files that are left out; their rows are imported. */
export function missingLines({ table, missing, missingFiles }: CheckedTable): readonly string[] {
  const listed = missingFiles.map((problem) => problemText(table.title, problem))
  return missing > listed.length
    ? [...listed, `${table.title}: ${counted(missing, 'file')} in all, of which the first are listed.`]
    : listed
}

/** `orders.csv line 3: total is not a number. It is "old".` */
export function problemText(title: string, { place, field, value, problem }: PlacedProblem): string {
  const subject = field === '' ? '' : `${shownName(field)} `
  const shown = value === null || value === '' ? '' : ` It is ${valueText(value)}.`
  return `${title} ${place}: ${subject}${problem}${/[.!]$/.test(problem) ? '' : '.'}${shown}`
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}
