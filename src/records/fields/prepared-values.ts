/** The values that a release needs of documents, made ahead of it: by each write, and by a job. `field-migration.ts` has the states. */
import { pauses } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import {
  type FieldPreparation,
  type FieldRule,
  fieldValueProblem,
  isEmptyValue,
  type SettlingField,
} from '../../shared/field-rule.ts'
import { type JsonObject, type JsonValue, sameJson } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { compileFieldExpression, type FieldExpression } from './field-expression.ts'
import { type FieldWorld, type FieldWriter, fieldWriter } from './field-writer.ts'
import { storedPages } from './stored-misfits.ts'

/** `undefined` for a value that the conversion drops, or where there is nothing to make one of. */
type Prepared =
  | { readonly value: JsonValue | undefined; readonly by?: 'fill' | 'convert' }
  | { readonly problem: string }

type Prepare = (document: JsonObject, writer: FieldWriter) => Prepared

/** What each write adds. A value that cannot be made is left out, and the release refused for it. */
export function preparedFields(
  rule: FieldRule,
  preparation: FieldPreparation,
): ((document: JsonObject, writer: FieldWriter) => readonly Mutation[])[] {
  const prepare = compiledPreparation(rule, preparation)
  const { name, copyOf } = rule
  const path = parseFieldPath(name)
  return [
    (document, writer) => {
      const made = prepare(document, writer)
      if ('problem' in made && copyOf === undefined) return []
      const value = 'problem' in made ? undefined : made.value
      const there = valueAt(document, path)
      if (isSame(value, there)) return []
      if (value !== undefined) return [{ op: 'set', field: name, value }]
      return copyOf === undefined ? [] : [{ op: 'remove', field: name }]
    },
  ]
}

/** The value of a new document that leaves the field out, while flows may still run that do not know it. */
export function settlingValue(
  rule: FieldRule,
  { from, ...values }: SettlingField,
): (document: JsonObject, writer: FieldWriter) => JsonValue | undefined {
  const prepare = compiledPreparation({ ...rule, copyOf: from }, { ...values, fitting: rule })
  return (document, writer) => {
    const made = prepare(document, writer)
    return 'problem' in made ? undefined : made.value
  }
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one === undefined || other === undefined ? one === other : sameJson(one, other)
}

function compiledPreparation(
  { name, copyOf = name }: FieldRule,
  { fill, convert, fitting, present }: FieldPreparation,
): Prepare {
  const source = parseFieldPath(copyOf)
  const [filling, converting] = [expressionIn(name, fill), expressionIn(name, convert)]
  const problemOf = (value: JsonValue) =>
    fieldValueProblem(fitting, value, patternBudget()) ??
    (present && notYet(present, fieldValueProblem({ ...present, required: false }, value, patternBudget())))
  const made = (value: JsonValue | undefined, by: 'fill' | 'convert'): Prepared => {
    if (isEmptyValue(value) && fitting.required) return { problem: 'is required, and gets no value' }
    const problem = value === undefined || value === null ? undefined : problemOf(value)
    return problem === undefined ? { value: value ?? undefined, by } : { problem }
  }
  return (document, writer) => {
    const value = valueAt(document, source)
    const frame = { ...writer.frame(document), value: value ?? null }
    try {
      if (isEmptyValue(value)) {
        const isMissed = fill === undefined && fitting.required && present?.required === false
        if (isMissed) return { problem: 'is required and must not be empty' }
        if (fill === undefined) return { value: undefined }
        return made(filling ? filling.value(frame) : fill, 'fill')
      }
      const fits = problemOf(value ?? null)
      // In the field itself, a value that fits may be one that was converted before.
      if (!converting || (copyOf === name && fits === undefined))
        return fits === undefined ? { value } : { problem: fits }
      return made(converting.value(frame), 'convert')
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      return { problem: `cannot be made: ${error.message}` }
    }
  }
}

function notYet({ name }: FieldRule, problem: string | undefined): string | undefined {
  if (problem === undefined) return undefined
  return `gets a value that the present release does not know: it ${problem}. Give the new field another name, with "was": ${JSON.stringify(name)}`
}

function expressionIn(name: string, text: JsonValue | undefined): FieldExpression | undefined {
  return typeof text === 'string' && text.startsWith('=')
    ? compileFieldExpression(name, text.slice(1))
    : undefined
}

/** Conversions depend on their document alone. */
const still: FieldWorld = { clock: () => 0, random: () => undefined }

/** Documents that a plan names: enough to look at, and few in a line. */
export const MOST_NAMED = 3

export interface PreparationFit {
  /** Present documents. */
  readonly documents: number
  /** That are to get a value, or another one. */
  readonly filled: number
  readonly converted: number
  /** Whose value the conversion drops. */
  readonly dropped: number
  /** That can get none. */
  readonly total: number
  /** Of these, as many as are named. */
  readonly first: readonly { readonly guid: string; readonly problem: string }[]
}

/** Goes through the documents page by page; they are read and written meanwhile. */
export async function preparationFit(
  database: Database,
  rule: FieldRule,
  preparation: FieldPreparation,
): Promise<PreparationFit> {
  const fit = { documents: 0, filled: 0, converted: 0, dropped: 0, total: 0 }
  const first: { readonly guid: string; readonly problem: string }[] = []
  const prepare = compiledPreparation(rule, preparation)
  const [path, source] = [parseFieldPath(rule.name), parseFieldPath(rule.copyOf ?? rule.name)]
  const pause = pauses()
  for await (const page of storedPages(database, rule.storage ?? ''))
    for (const document of page) {
      await pause()
      fit.documents += 1
      const made = prepare(document, fieldWriter(still, {}))
      if ('problem' in made) {
        fit.total += 1
        if (first.length < MOST_NAMED) first.push({ guid: guidOf(document), problem: made.problem })
        continue
      }
      if (made.by === 'convert' && made.value === undefined && valueAt(document, source) !== undefined)
        fit.dropped += 1
      if (isSame(made.value, valueAt(document, path))) continue
      if (made.value === undefined && rule.copyOf === undefined) continue
      fit[made.by === 'fill' ? 'filled' : 'converted'] += 1
    }
  return { ...fit, first }
}
