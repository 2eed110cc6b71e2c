/**
 * Expressions of fields: `computed`, about the document that is written alone, and `default_expression`, which may also look
 * at the clock, at random bytes and at who writes. A conversion also sees the stored `value`. They are the same everywhere: texts and dates are made in UTC and English
 * unless the expression says otherwise.
 */
import { callableFunctions, knownDeclarations } from '../../expressions/functions/callable-functions.ts'
import { checkExpression } from '../../expressions/language/check-expression.ts'
import { compileExpression } from '../../expressions/language/compile/compile-expression.ts'
import { fieldChangeNames } from '../../expressions/language/declared/field-changes.ts'
import { calledFunctions } from '../../expressions/language/declared/functions.ts'
import { namesOf, type ParsedExpression } from '../../expressions/language/expression.ts'
import { ExpressionError } from '../../expressions/language/expression-error.ts'
import type { FunctionContext } from '../../expressions/language/function-declaration.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import { anyType, objectType, typeOfStored } from '../../expressions/language/value-types.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { type FieldType, fieldTypeEntries } from '../../shared/fields/field-type.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'

export type FieldExpressionKind = 'computed' | 'default_expression' | 'constraint' | 'conversion'

/** What an expression of a field sees. */
export interface FieldFrame {
  /** The document's fields, without `_meta`. */
  readonly doc: JsonObject
  readonly user: JsonObject | undefined
  readonly context: FunctionContext
  /** Of a conversion: what is stored. */
  readonly value?: JsonValue
}

export interface FieldExpression {
  /** The fields of the document that it reads, dotted. */
  readonly reads: readonly string[]
  /** Undefined for nothing. Throws INVALID_BODY that names the field. */
  value(frame: FieldFrame): JsonValue | undefined
}

/** What is wrong with the text, as a sentence; undefined when it can be compiled. */
export function fieldExpressionProblem(
  text: string,
  kind: FieldExpressionKind,
  type: FieldType,
): string | undefined {
  const { expression, problem } = parseExpression(text)
  if (!expression) return at(problem.message, problem.start)
  const misread = namesProblem(expression, kind) ?? callsProblem(expression, kind)
  if (misread !== undefined) return misread
  const { problems } = checkExpression(expression, {
    typeOf: (name) => (namesFor[kind].includes(name) ? (name === 'value' ? anyType : objectType) : undefined),
    names: namesFor[kind],
    declarations: knownDeclarations(),
    expected: typeOfStored[fieldTypeEntries[type].value],
  })
  const [first] = problems.filter(({ severity }) => severity !== 'warning')
  return first && at(first.message, first.start)
}

const namesFor: Readonly<Record<FieldExpressionKind, readonly string[]>> = {
  computed: ['doc'],
  default_expression: ['doc', 'user'],
  constraint: ['doc'],
  conversion: ['value', 'doc'],
}

const subjects = {
  computed: 'A computed field',
  constraint: 'A constraint',
  conversion: 'A conversion',
} as const

function namesProblem(expression: ParsedExpression, kind: FieldExpressionKind): string | undefined {
  for (const { name, path, start } of namesOf(expression)) {
    if (name === 'doc' && path[0] === '_meta')
      return at('doc._meta is written by the storage, after the fields.', start)
    if (name === 'doc' && path.length === 0 && kind !== 'default_expression')
      return at(`${subjects[kind]} reads fields by name, such as doc.price.`, start)
  }
  return undefined
}

function callsProblem({ root }: ParsedExpression, kind: FieldExpressionKind): string | undefined {
  const { varies, names } = calledFunctions(root)
  const change = [...names].find((name) => fieldChangeNames.has(name))
  if (change !== undefined) return `${change} is for blocks that change documents.`
  if (varies.has('language'))
    return 'A stored value cannot depend on a language: translate is for pins of blocks.'
  if (kind !== 'default_expression' && varies.size > 0)
    return `${subjects[kind]} depends on its document alone: it cannot use the clock or random values.`
  return undefined
}

function at(message: string, start: number): string {
  return `${message.replace(/\.$/, '')} (column ${start + 1}).`
}

/** The fields of the document that the text reads, dotted: empty for the whole document. None of a text that cannot be read. */
export function fieldsRead(text: string): string[] {
  const { expression } = parseExpression(text)
  return expression ? docFieldsIn(expression) : []
}

function docFieldsIn(expression: ParsedExpression): string[] {
  return namesOf(expression).flatMap(({ name, path }) => (name === 'doc' ? [path.join('.')] : []))
}

/** Of a text without a problem. */
export function compileFieldExpression(field: string, text: string): FieldExpression {
  const { expression, problem } = parseExpression(text)
  if (!expression)
    throw invalidField(field, `${field} has an expression that cannot be read: ${problem.message}`)
  const evaluate = compileExpression<FieldFrame>(expression, {
    ...callables(),
    name: (name) => readers[name],
    context: ({ context }) => context,
  })
  return {
    reads: docFieldsIn(expression),
    value(frame) {
      try {
        // Expressions give JSON or nothing, which the types of the language do not say.
        return evaluate(frame) as JsonValue | undefined
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
        // The writer may be one to whom the fields that it reads are hidden.
        const message = `${field} cannot be computed: ${error.withoutValue}`
        const outside = `${field} cannot be computed from these values`
        throw new QuoinError('INVALID_BODY', message, { fields: [field], outside })
      }
    },
  }
}

const readers: Readonly<Record<string, (frame: FieldFrame) => unknown>> = {
  doc: ({ doc }) => doc,
  user: ({ user }) => user,
  value: ({ value }) => value,
}

let known: ReturnType<typeof callableFunctions> | undefined

/** Joined at the first use. */
function callables(): ReturnType<typeof callableFunctions> {
  known ??= callableFunctions()
  return known
}
