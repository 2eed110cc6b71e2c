/** A field's record by itself: whether what it says fits together. */
import { invalidField } from '../../shared/errors.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isFreeText } from '../../shared/field-rule.ts'
import { isCurrency } from '../../shared/fields/currencies.ts'
import { fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { numberOf } from '../../shared/fields/value-forms.ts'
import { type JsonObject, jsonProblem } from '../../shared/json.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { patternProblem } from '../../shared/texts/text-pattern.ts'

import { isOwnStorage, storageNameProblem } from '../../storage/system-storages.ts'
import { scopeOf } from '../permissions/reference-query.ts'
import { ruleProblem } from '../permissions/rule-expression.ts'
import { fieldExpressionProblem } from './field-expression.ts'
import { ruleOf } from './field-rules.ts'
import { referenceProblem } from './reference-fields.ts'

/** The record, if everything in it fits together. */
export function checkedField(record: JsonObject): JsonObject {
  const { name, storage, type } = record
  const nameProblem = typeof name === 'string' ? fieldNameProblem(name) : 'is missing'
  if (nameProblem) throw invalidField('name', `name ${nameProblem}.`)
  if (String(name).split('.')[0] === '_meta')
    throw invalidField('name', 'name begins with _meta, which only the cluster writes.')
  if (typeof storage === 'string') {
    const problem = isOwnStorage(storage) ? 'belongs to Quoin itself' : storageNameProblem(storage)
    if (problem) throw invalidField('storage', `storage ${problem}.`)
  }
  const problem = jsonProblem(record)
  if (problem) throw invalidField('metadata', `The field ${problem}.`)
  const rule = ruleOf(record)
  if (!rule) throw invalidField('type', 'type is not a type of a field.')
  checkLimits(rule)
  checkDefault(rule)
  const wrong = referenceProblem(rule)
  if (wrong) throw invalidField('reference', `reference ${wrong}.`)
  checkAutomatic(rule)
  checkExpressions(rule)
  checkPermissions(rule)
  if (rule.collation !== undefined && !isFreeText(rule))
    throw invalidField('collation', 'collation is of texts only: of the types string, line and long_text.')
  checkIgnored(record, rule)
  if (rule.unique && rule.storage === undefined)
    throw invalidField('unique', 'unique needs a storage: values are unique among its documents.')
  return type === 'autonumber' ? { ...record, unique: true } : record
}

function checkIgnored({ ignore_case, ignore_accents }: JsonObject, rule: FieldRule): void {
  if (ignore_accents === true && ignore_case !== true)
    throw invalidField(
      'ignore_accents',
      'ignore_accents needs ignore_case: accents are ignored where case is.',
    )
  if (ignore_case === true && !isFreeText(rule))
    throw invalidField(
      'ignore_case',
      'ignore_case is of texts only: of the types string, line and long_text.',
    )
}

function checkLimits(rule: FieldRule): void {
  const { type, limits } = rule
  const { limits: known, needs, at } = fieldTypeEntries[type]
  const { places, items, currency } = limits
  for (const [limit, value] of Object.entries(limits)) {
    const place = `validation_rules.${limit}`
    if (!known.some((one) => one === limit))
      throw invalidField(place, `${limit} does not apply to a field of the type ${type}. Leave it out.`)
    const bounds = limit === 'min' || limit === 'max'
    const plain: FieldRule = {
      ...rule,
      required: false,
      limits: {
        ...(places !== undefined && { places }),
        ...(items !== undefined && { items }),
        ...(currency !== undefined && { currency }),
      },
    }
    const misfit = bounds ? fieldValueProblem(plain, value, patternBudget()) : undefined
    if (misfit) throw invalidField(place, `${limit} ${misfit}.`)
    const problem = limit === 'pattern' ? patternProblem(String(value)) : undefined
    if (problem) throw invalidField(place, `The pattern ${problem}.`)
  }
  if (currency !== undefined && !isCurrency(currency))
    throw invalidField(
      'validation_rules.currency',
      `currency must be a code of ISO 4217 such as EUR; got ${JSON.stringify(currency)}.`,
    )
  if (needs !== undefined && limits[needs] === undefined)
    throw invalidField(`validation_rules.${needs}`, `A field of the type ${type} needs ${needs}.`)
  if (isAbove(limits.min_length, limits.max_length) || isAbove(limits.min, limits.max, at))
    throw invalidField('validation_rules', 'The minimum is above the maximum: no value would be valid.')
}

function isAbove(
  least: number | string | undefined,
  most: number | string | undefined,
  at: (value: number | string) => number | undefined = numberOf,
): boolean {
  const [from, to] = [least, most].map((limit) => (limit === undefined ? undefined : at(limit)))
  return from !== undefined && to !== undefined && from > to
}

/** A default that breaks the field's own rules would make every create fail. */
function checkDefault(rule: FieldRule): void {
  if (rule.defaultValue === undefined) return
  const problem = fieldValueProblem(rule, rule.defaultValue, patternBudget())
  if (problem) throw invalidField('default_value', `default_value ${problem}.`)
}

function checkAutomatic(rule: FieldRule): void {
  const { name, storage, type, defaultValue, defaultExpression, computed, unique } = rule
  if (fieldTypeEntries[type].automatic !== true) return
  if (storage === undefined || name.includes('.'))
    throw invalidField('type', `A field of the type ${type} needs a storage, and a name without dots.`)
  if (defaultValue !== undefined || defaultExpression !== undefined || computed !== undefined)
    throw invalidField('type', `A field of the type ${type} has neither a default nor an expression.`)
  if (type === 'autonumber' && unique && unique.key !== name)
    throw invalidField('unique', `A field of the type ${type} is unique by itself. Leave unique out.`)
}

function checkExpressions(rule: FieldRule): void {
  const { storage, type, defaultValue, defaultExpression, computed, reference } = rule
  for (const [kind, text] of [
    ['computed', computed],
    ['default_expression', defaultExpression],
  ] as const) {
    if (text === undefined) continue
    if (storage === undefined) throw invalidField(kind, `${kind} needs a storage: it is about its documents.`)
    const problem = fieldExpressionProblem(text, kind, type)
    if (problem) throw invalidField(kind, `${kind} cannot be used: ${problem}`)
  }
  if (computed !== undefined && reference)
    throw invalidField('computed', 'A field with a reference cannot be computed.')
  const input = [defaultValue, defaultExpression, computed].filter((one) => one !== undefined)
  if (input.length > 1)
    throw invalidField(
      computed === undefined ? 'default_expression' : 'computed',
      'A field has one of default_value, default_expression and computed.',
    )
}

function checkPermissions({ storage, visibleTo, settableBy }: FieldRule): void {
  for (const [name, text] of [
    ['visible_to', visibleTo],
    ['settable_by', settableBy],
  ] as const) {
    if (text === undefined) continue
    if (storage === undefined) throw invalidField(name, `${name} needs a storage: it is about its documents.`)
    const problem = ruleProblem(text, 'field', scopeOf(storage ?? ''), { saved: true })
    if (problem) throw invalidField(name, `${name} cannot be used: ${problem}`)
  }
}
