/** A change of a field by which stored values get another form, and what is said of those that do not fit. */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import {
  type FieldConversion,
  type FieldRule,
  fieldValueProblem,
  isAutomatic,
  isFreeText,
} from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import type { Database } from '../../storage/database.ts'
import { misfitRuleOf, renamedValuesOf } from './field-migration.ts'
import { rulesIn } from './field-rules.ts'
import { askedBy, type Misfit, misfitError, type StoredFit, storedFit } from './stored-misfits.ts'
import type { FieldChange } from './unique-fields.ts'

export interface ConvertibleChange {
  readonly before: FieldRule | undefined
  readonly after: FieldRule
  /** What documents are held against. */
  readonly rule: FieldRule
  readonly conversion: FieldConversion
}

/** Of the first documents that do not fit: those that the caller may see, with the value where the field is not hidden. */
export type SeenDocuments = (
  storage: string,
  field: string,
  misfits: readonly Misfit[],
) => Promise<readonly JsonObject[]>

/** Undefined where no value would be converted, only checked. Throws INVALID_BODY for what cannot be asked. */
export function convertibleChange(
  database: Database,
  { before, after }: FieldChange,
  { misfits: input, renamed_values: values }: JsonObject,
  timeZone: string,
): ConvertibleChange | undefined {
  const misfits = misfitRuleOf(input)
  const renamedValues = renamedValuesOf(values)
  if (!after) return undefined
  checkRenamedValues(after, renamedValues)
  if (misfits) checkMisfits(after, misfits.value, misfits.keepIn)
  const isSameField = before?.name === after.name && before.storage === after.storage
  const isAsked = before?.type !== after.type || misfits !== undefined || renamedValues.length > 0
  const rule = askedBy(database, { before, after })
  if (!rule || !isSameField || !isAsked || isAutomatic(after) || after.reference) return undefined
  return { before, after, rule, conversion: { timeZone, renamedValues, ...(misfits && { misfits }) } }
}

function checkRenamedValues({ limits }: FieldRule, values: FieldConversion['renamedValues']): void {
  const choices = limits.choices ?? []
  for (const [at, { from, to }] of values.entries()) {
    // Else a document that is written twice would change twice.
    if (choices.includes(from))
      throw invalidField(
        `renamed_values.${at}.from`,
        `${from} is one of the choices: values of it stay as they are.`,
      )
    if (!choices.includes(to))
      throw invalidField(
        `renamed_values.${at}.to`,
        `${to} is not one of the choices. Add it to validation_rules.`,
      )
  }
}

function checkMisfits(after: FieldRule, value: JsonValue, keepIn: string | undefined): void {
  const problem = fieldValueProblem(after, value, patternBudget())
  if (problem) throw invalidField('misfits.value', `misfits.value ${problem}.`)
  if (keepIn === after.name) throw invalidField('misfits.keep_in', 'misfits.keep_in must be another field.')
}

/** How stored values fit. Throws CONFLICT that lists those that do not, where nothing was said about them. */
export async function refuseMisfits(
  database: Database,
  { before, after, rule, conversion }: ConvertibleChange,
  seen: SeenDocuments,
): Promise<StoredFit> {
  await checkKeepIn(database, rule.storage ?? '', conversion)
  const fit = await storedFit(database, rule, conversion)
  if (fit.total === 0 || conversion.misfits) return fit
  const error = misfitError(after, before, fit)
  const documents = await seen(rule.storage ?? '', rule.name, fit.misfits)
  throw new QuoinError(error.code, `${error.message} Or say by misfits what is stored instead.`, {
    ...(error.fields && { fields: error.fields }),
    details: { total: fit.total, documents: [...documents] },
  })
}

/** A field with rules may refuse the values that are kept in it, and what it has would be replaced. */
async function checkKeepIn(database: Database, storage: string, { misfits }: FieldConversion): Promise<void> {
  const keepIn = misfits?.keepIn
  if (keepIn === undefined) return
  const session = database.session()
  const described = (await rulesIn(session, storage)).find(({ name }) => name === keepIn)
  if (described && !isFreeText(described))
    throw invalidField(
      'misfits.keep_in',
      `${keepIn} is a field of the type ${described.type}. Name one of texts, or a new one.`,
    )
  const taken = await session.count(storage, { kind: 'exists', field: keepIn })
  if (taken > 0)
    throw new QuoinError(
      'CONFLICT',
      `${taken} documents have a value of ${keepIn} already. Name another field.`,
      {
        fields: ['misfits.keep_in'],
      },
    )
}
