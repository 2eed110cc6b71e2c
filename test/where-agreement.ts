/**
 * Random conditions on documents (`where`) against what they mean: for each document the comparisons are evaluated as plain
 * expressions, and joined here. The exceptions of a search are written out: values of different types are no error, texts
 * are ordered by code point, a value that is nothing makes its comparison false under `!` too, and lists are not equal to another field.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { callableFunctions } from '../src/expressions/functions/callable-functions.ts'
import { ExpressionError } from '../src/expressions/language/expression-error.ts'
import { parseExpression } from '../src/expressions/language/parse-expression.ts'
import { readWhere } from '../src/expressions/language/where/read-where.ts'
import { whereQuery } from '../src/flows/compile/expressions/where-query.ts'
import { parseFieldPath, valueAt } from '../src/shared/field-path.ts'
import { isEmptyValue } from '../src/shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import { type Query, type Scalar, search } from '../src/shared/query.ts'
import { checkSearch } from '../src/storage/search/check-search.ts'
import { compareStrings, matches } from '../src/storage/search/evaluate-query.ts'
import { searched, someField, storedDocuments } from './arbitrary-documents.ts'
import { evaluateText } from './evaluate-expression.ts'
import { functionContext } from './function-context.ts'
import { expectSame, type SearchWorld } from './search-agreement.ts'

type Params = Readonly<Record<string, JsonValue | undefined>>
/** `unknown`: a value of the run was nothing. */
type Outcome = true | false | 'unknown'

interface Where {
  readonly text: string
  /** Its comparisons; itself when it is one. */
  readonly parts?: readonly Where[]
  holds(document: JsonObject, params: Params): Outcome
}

/** `doc["a b"]["c"]` */
function fieldText(field: string): string {
  return `doc${field
    .split('.')
    .map((key) => (/^\w+$/.test(key) && /^\D/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
    .join('')}`
}

/** What the expression gives for one document; a type that does not fit is no error. */
function evaluated(text: string, document: JsonObject, params: Params): boolean {
  try {
    return Boolean(evaluateText(text, { doc: document, params }))
  } catch (error) {
    if (error instanceof ExpressionError) return false
    throw error
  }
}

function partsOf(where: Where): readonly Where[] {
  return where.parts ?? [where]
}

/** As all of the expression says, when none of the exceptions of a search is met. */
function asExpression(where: Where, document: JsonObject, params: Params): boolean | undefined {
  const strictly = (text: string) => {
    try {
      return Boolean(evaluateText(text, { doc: document, params }))
    } catch {
      return undefined
    }
  }
  const isExact = partsOf(where).every((part) => strictly(part.text) === part.holds(document, params))
  return isExact ? strictly(where.text) : undefined
}

const operators = ['==', '!=', '<', '<=', '>', '>='] as const
type Operator = (typeof operators)[number]

/** A text of an expression, and its value. */
interface Input {
  readonly text: string
  value(params: Params): JsonValue | undefined
}

const names = ['p', 'q', 'r'] as const
const input: fc.Arbitrary<Input> = fc.oneof(
  fc
    .oneof(searched, fc.constantFrom('open', 'done', 0, 1, 5))
    .map((value): Input => ({ text: JSON.stringify(value), value: () => value })),
  fc
    .constantFrom(...names)
    .map((name): Input => ({ text: `params.${name}`, value: (params) => params[name] })),
)

function inOrder(operator: Operator, order: number): boolean {
  switch (operator) {
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** Equality of the same few values, so that alternatives of it are met, and join into lists. */
const operator = fc.oneof(
  { weight: 1, arbitrary: fc.constant('==' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...operators) },
)

const comparison = fc
  .tuple(fc.oneof(someField, fc.constantFrom('status', 'count')), operator, input, fc.boolean())
  .map(([field, operator, operand, turned]): Where => {
    const sides = [fieldText(field), operator, operand.text]
    const text = (turned ? [sides[2], operator, sides[0]] : sides).join(' ')
    return {
      text,
      holds(document, params) {
        const value = operand.value(params)
        if (value === undefined || value === null) return 'unknown'
        const at = valueAt(document, parseFieldPath(field))
        if (typeof at === 'string' && typeof value === 'string')
          return inOrder(operator, turned ? compareStrings(value, at) : compareStrings(at, value))
        return evaluated(text, document, params)
      },
    }
  })

const twoFields = fc
  .tuple(someField, fc.constantFrom(...operators), someField)
  .map(([field, operator, other]): Where => {
    const text = `${fieldText(field)} ${operator} ${fieldText(other)}`
    return {
      text,
      holds(document, params) {
        const [a, b] = [field, other].map((one) => valueAt(document, parseFieldPath(one)))
        if (typeof a === 'string' && typeof b === 'string') return inOrder(operator, compareStrings(a, b))
        if (typeof a === 'object' && a !== null && (operator === '==' || operator === '!='))
          return operator === '!='
        return evaluated(text, document, params)
      },
    }
  })

const missing = fc
  .tuple(someField, fc.constantFrom(...operators))
  .map(([field, operator]): Where => closure(`${fieldText(field)} ${operator} null`))

const called = fc
  .tuple(fc.constantFrom('contains', 'startsWith'), someField, input)
  .map(([name, field, operand]): Where => {
    const text = `${name}(${fieldText(field)}, ${operand.text})`
    return {
      text,
      holds(document, params) {
        const value = operand.value(params)
        return value === undefined || value === null ? 'unknown' : evaluated(text, document, params)
      },
    }
  })

/** A list of the run that has the field's value as an element. */
const among = fc.tuple(someField, fc.array(input, { maxLength: 3 })).map(([field, operands]): Where => {
  const list = operands.map(({ text }) => text).join(', ')
  return {
    text: `contains([${list}], ${fieldText(field)})`,
    holds(document, params) {
      const at = valueAt(document, parseFieldPath(field))
      if (at === undefined || at === null) return false
      return operands.some((one) => one.value(params) === at)
    },
  }
})

const words = fc
  .tuple(fc.option(someField), fc.constantFrom('open', 'ope*', 'mail -x', ' '))
  .map(([field, text]): Where => {
    const query: Query = { kind: 'simple_query_string', fields: field === null ? [] : [field], text }
    const of = field === null ? 'doc' : fieldText(field)
    return {
      text: `search(${of}, ${JSON.stringify(text)})`,
      holds: (document) => text.trim() !== '' && matches(query, document),
    }
  })

/** Means what it means as an expression. */
function closure(text: string): Where {
  return { text, holds: (document, params) => evaluated(text, document, params) }
}

const leaf: fc.Arbitrary<Where> = fc.oneof(
  { weight: 6, arbitrary: comparison },
  { weight: 3, arbitrary: twoFields },
  { weight: 2, arbitrary: missing },
  { weight: 3, arbitrary: called },
  { weight: 2, arbitrary: among },
  { weight: 1, arbitrary: someField.map((field) => closure(`isEmpty(${fieldText(field)})`)) },
  { weight: 1, arbitrary: words },
  { weight: 1, arbitrary: fc.constantFrom('params.p', 'params.p == params.q', 'true', 'null').map(closure) },
)

/** Truth with a third value: what is unknown decides nothing. */
function both(a: Outcome, b: Outcome): Outcome {
  if (a === false || b === false) return false
  return a === 'unknown' || b === 'unknown' ? 'unknown' : true
}

function opposite(outcome: Outcome): Outcome {
  return outcome === 'unknown' ? outcome : !outcome
}

function joined(operator: '&&' | '||', parts: readonly Where[]): Where {
  return {
    text: parts.map(({ text }) => `(${text})`).join(` ${operator} `),
    parts: parts.flatMap(partsOf),
    holds(document, params) {
      const outcomes = parts.map((part) => part.holds(document, params))
      if (operator === '&&') return outcomes.reduce(both)
      return opposite(outcomes.map(opposite).reduce(both))
    },
  }
}

const condition = fc.letrec<{ where: Where }>((tie) => ({
  where: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 3, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom('&&' as const, '||' as const),
          fc.array(tie('where'), { minLength: 2, maxLength: 4 }),
        )
        .map(([operator, parts]) => joined(operator, parts)),
    },
    {
      weight: 1,
      arbitrary: tie('where').map(
        (inner): Where => ({
          text: `!(${inner.text})`,
          parts: partsOf(inner),
          holds: (document, params) => opposite(inner.holds(document, params)),
        }),
      ),
    },
  ),
})).where

/** With a comparison before it that is left out when its value is empty. */
const optional = fc.tuple(someField, fc.constantFrom(...operators), condition).map(
  ([field, operator, rest]): Where => ({
    text: `${fieldText(field)} ${operator} maybe(params.m) && (${rest.text})`,
    holds(document, params) {
      if (isEmptyValue(params.m)) return rest.holds(document, params)
      const at = valueAt(document, parseFieldPath(field))
      const requested = params.m
      const first =
        typeof at === 'string' && typeof requested === 'string'
          ? inOrder(operator, compareStrings(at, requested))
          : evaluated(`${fieldText(field)} ${operator} params.m`, document, params)
      return both(first, rest.holds(document, params))
    },
  }),
)

const value: fc.Arbitrary<Scalar | null | undefined> = fc.oneof(
  { weight: 4, arbitrary: searched },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
)
const someParams: fc.Arbitrary<Params> = fc.record({ p: value, q: value, r: value, m: value })

const callables = callableFunctions()

function translated(text: string, params: Params): Query {
  const { expression } = parseExpression(text)
  if (!expression) throw new SyntaxError(text)
  expect(readWhere(expression, { maybe: true }).problems, text).toEqual([])
  return whereQuery<Params>(expression, {
    ...callables,
    name: (name) => (name === 'params' ? (all) => all : undefined),
    context: () => functionContext(),
  })(params)
}

/** A property: the documents found are those for which the condition holds, by the evaluator of queries and by an engine. */
export function whereAgreement(bodies: fc.Arbitrary<JsonObject>, world?: SearchWorld) {
  const wheres = fc.array(fc.oneof({ weight: 4, arbitrary: condition }, { weight: 1, arbitrary: optional }), {
    minLength: 1,
    maxLength: 4,
  })
  return fc.asyncProperty(
    storedDocuments(bodies),
    wheres,
    someParams,
    async (documents, requested, params) => {
      await world?.fill(documents)
      for (const where of requested) {
        const query = translated(where.text, params)
        const asked = search({ query, includeRemoved: true, limit: 100 })
        checkSearch(asked)
        const found = documents.filter((document) => matches(query, document))
        const holding = documents.filter((document) => where.holds(document, params) === true)
        expect(found, where.text).toEqual(holding)
        for (const document of documents) {
          const said = asExpression(where, document, params)
          if (said !== undefined) expect(holding.includes(document), where.text).toBe(said)
        }
        if (world) await expectSame(world, documents, asked)
      }
    },
  )
}
