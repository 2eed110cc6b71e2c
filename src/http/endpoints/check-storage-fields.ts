import type { RunRequest } from '../../blocks/run-request.ts'
import { isFormRequest, numberOfText, withLists } from '../../flows/compile/checks/check-request.ts'
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, fieldValueProblem, isAutomatic, isFilledIn } from '../../shared/field-rule.ts'
import { type FieldType, fieldTypeEntries } from '../../shared/fields/field-type.ts'
import { type TextTarget, valueOfText } from '../../shared/fields/value-of-text.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'

/**
 * Checks the body of a request by the rules of a storage's fields, before its flow starts: the write would refuse the same
 * values, and name one of them. `partial`: what is missing is not asked for. Throws INVALID_BODY with every bad field.
 */
export function checkStorageFields(
  rules: readonly FieldRule[],
  input: JsonValue | undefined,
  partial: boolean,
): void {
  const body = input ?? {}
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

/**
 * The request as its flow gets it: texts of a form become what the fields of the storage hold. What cannot be read stays text, and is refused.
 * Blank text is no value where the field holds none: left out of a new document, and null in a change.
 */
export function withFieldValues(
  request: RunRequest,
  rules: readonly FieldRule[],
  partial: boolean,
): RunRequest {
  if (!isJsonObject(request.body) || !isFormRequest(request)) return request
  const body = { ...withLists(request.body) }
  for (const rule of rules) {
    if (!Object.hasOwn(body, rule.name)) continue
    const value = formValue(rule, body[rule.name] ?? null)
    if (value === null && !partial) delete body[rule.name]
    else body[rule.name] = value
  }
  return { ...request, body }
}

/** A list comes as several texts of one name, or as JSON. */
function formValue(rule: FieldRule, sent: JsonValue): JsonValue {
  const { type, limits } = rule
  const isList = fieldTypeEntries[type].value === 'list'
  if (!isList || (typeof sent === 'string' && /^\s*(?:\[|$)/.test(sent))) return valueOfForm(rule, sent)
  const item: TextTarget = limits.items ? { type: limits.items } : { type: 'choice', limits }
  return [sent].flat().map((one) => valueOfForm(item, one))
}

/** What is no text is a file, or a part that was sent as JSON. */
function valueOfForm(target: TextTarget, sent: JsonValue): JsonValue {
  if (typeof sent !== 'string') return sent
  const { type, limits } = target
  const { value } = fieldTypeEntries[type]
  const isFree = limits?.choices === undefined
  if (sent.trim() === '') return isFree && mayBeBlank[type] ? sent : null
  if (value === 'number') return numberOfText(sent)
  if (type === 'date') return /^\d{9,15}$/.test(sent) ? Number(sent) : sent
  if (value === 'text' && isFree) return sent
  const read = valueOfText(target, sent)
  return 'value' in read ? read.value : sent
}

const mayBeBlank: Readonly<Partial<Record<FieldType, true>>> = { string: true, line: true, long_text: true }

/** Fields of an object that is not sent are the affair of the object. */
function isThere(body: JsonValue, parent: readonly string[]): boolean {
  return parent.length === 0 || isJsonObject(valueAt(body, parent))
}
