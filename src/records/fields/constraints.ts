/**
 * Constraints of a storage: conditions between the fields of a document, with a message of their own and the field at which it is
 * shown. They bind every writer, administrators and blocks too; who may do what is said by permissions (`records/permissions`).
 *
 * One counts for a write that touches a field that it reads, as rules of fields do, so that older documents stay as they are. A field
 * that is empty breaks none: whether it may be empty is a rule of the field.
 */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { overlap, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { compileFieldExpression, type FieldExpression, fieldExpressionProblem } from './field-expression.ts'
import type { FieldWriter } from './field-writer.ts'

export interface Constraint {
  readonly expression: FieldExpression
  readonly message: string
  /** At which the message is shown; empty = of the document as a whole. */
  readonly field: string
}

/** Each costs the writes of its fields. */
const MOST = 20

/** As the record holds them. Throws INVALID_BODY that names the constraint and the column. */
export function checkedConstraints(input: JsonValue): JsonObject[] {
  const all = objectsIn(input)
  if (all.length > MOST) throw invalidField('constraints', `A storage has at most ${MOST} constraints.`)
  return all.map(({ rule, message, field }, at) => {
    const place = `constraints.${at}`
    const problem = fieldExpressionProblem(textIn(rule), 'constraint', 'boolean')
    if (problem) throw invalidField(`${place}.rule`, `The constraint ${at + 1} cannot be used: ${problem}`)
    if (textIn(message).trim() === '')
      throw invalidField(
        `${place}.message`,
        `message of the constraint ${at + 1} is required: people read it.`,
      )
    return { rule: textIn(rule), message: textIn(message).trim(), field: textIn(field).trim() }
  })
}

/** Of a stored storage. One that this version cannot read is broken by every new document, and not by none. */
export function constraintsIn(stored: JsonValue | undefined): readonly Constraint[] {
  return objectsIn(stored).map(({ rule, message, field }) => ({
    expression: readable(textIn(field), textIn(rule)),
    message: textIn(message),
    field: textIn(field),
  }))
}

function readable(field: string, rule: string): FieldExpression {
  try {
    return compileFieldExpression(field, rule)
  } catch (error) {
    return {
      reads: [],
      value() {
        throw error
      },
    }
  }
}

/** Those that a write of these fields may break. */
export function touchedConstraints(
  constraints: readonly Constraint[],
  written: readonly string[],
): readonly Constraint[] {
  return constraints.filter(({ expression }) =>
    expression.reads.some((field) => written.some((one) => overlap(one, field))),
  )
}

/** Throws INVALID_BODY with the message of the first one that the document breaks. */
export function checkConstraints(
  constraints: readonly Constraint[],
  document: JsonObject,
  writer: FieldWriter,
): void {
  for (const { expression, message, field } of constraints) {
    if (expression.reads.some((name) => isEmptyValue(valueAt(document, parseFieldPath(name))))) continue
    if (holds(expression, document, writer)) continue
    if (field !== '')
      throw new QuoinError('INVALID_BODY', message, { fields: [field], reasons: { [field]: message } })
    throw new QuoinError('INVALID_BODY', message)
  }
}

/** What cannot be evaluated does not hold. */
function holds(expression: FieldExpression, document: JsonObject, writer: FieldWriter): boolean {
  try {
    return expression.value(writer.frame(document)) === true
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}
