import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isAutomatic, isFilledIn } from '../../shared/field-rule.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'

/**
 * Checks the body of a request by the rules of a storage's fields, before its flow starts: the write would refuse the same
 * values, and name one of them. `partial`: what is missing is not asked for. Throws INVALID_BODY with every bad field.
 */
export function checkStorageFields(
  rules: readonly FieldRule[],
  given: JsonValue | undefined,
  partial: boolean,
): void {
  const body = given ?? {}
  if (!isJsonObject(body)) throw new QuoinError('INVALID_BODY', 'The body must be a JSON object.')
  const reasons: Record<string, string> = {}
  const spend = patternBudget()
  for (const rule of rules) {
    // What is sent for it is replaced.
    if (isAutomatic(rule)) continue
    const path = parseFieldPath(rule.name)
    const value = valueAt(body, path)
    const isLeftOut = partial || isFilledIn(rule) || !isThere(body, path.slice(0, -1))
    if (value === undefined && isLeftOut) continue
    const problem = fieldValueProblem(rule, value, spend)
    if (problem !== undefined) reasons[rule.name] = problem
  }
  const fields = Object.keys(reasons)
  if (fields.length === 0) return
  const list = fields.map((name) => `${name} ${reasons[name]}`).join('; ')
  throw new QuoinError('INVALID_BODY', `The request is invalid: ${list}.`, { fields, reasons })
}

/** Fields of an object that is not sent are the affair of the object. */
function isThere(body: JsonValue, parent: readonly string[]): boolean {
  return parent.length === 0 || isJsonObject(valueAt(body, parent))
}
