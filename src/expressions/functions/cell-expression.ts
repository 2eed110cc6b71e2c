/**
 * The expression that says what a cell of a table shows: `doc` is the document of the row, `value` what its field holds.
 * It is evaluated when the table is shown, not in the run that made the page, so it knows no blocks and no request.
 */

import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { checkExpression } from '../language/check-expression.ts'
import { compileExpression } from '../language/compile/compile-expression.ts'
import { fieldChangeNames } from '../language/declared/field-changes.ts'
import { calledFunctions } from '../language/declared/functions.ts'
import { type NameUse, namesOf, type ParsedExpression } from '../language/expression.ts'
import type { FunctionContext } from '../language/function-declaration.ts'
import { parseExpression } from '../language/parse-expression.ts'
import { anyType, objectType } from '../language/value-types.ts'
import { callableFunctions, knownDeclarations } from './callable-functions.ts'

export interface CellFrame {
  readonly doc: JsonObject
  readonly value: JsonValue | undefined
  readonly context: FunctionContext
}

export interface CellExpression {
  /** JSON, or undefined for nothing. Throws ExpressionError. */
  readonly evaluate: (frame: CellFrame) => unknown
  /** The fields of documents that are referred to, as columns name them: `customer.name`. */
  readonly reads: readonly string[]
}

const names = ['doc', 'value']

/** What is wrong with the text, as a sentence with the column; undefined when it can be compiled. */
export function cellProblem(text: string): string | undefined {
  const { expression, problem } = parseExpression(text)
  if (!expression) return at(problem.message, problem.start)
  const { varies, names: called } = calledFunctions(expression.root)
  const change = [...called].find((name) => fieldChangeNames.has(name))
  if (change !== undefined) return `${change} is for blocks that change documents.`
  if (varies.has('random'))
    return 'What a cell shows cannot be random: it is calculated each time it is shown.'
  if (varies.has('language')) return 'A cell has no texts of an application: translate is for pins of blocks.'
  const { problems } = checkExpression(expression, {
    typeOf: (name, inBlocks) => (inBlocks ? undefined : name === 'doc' ? objectType : namedValue(name)),
    names,
    declarations: knownDeclarations(),
  })
  const [first] = problems.filter(({ severity }) => severity === 'error')
  return first && at(first.message, first.start)
}

function namedValue(name: string) {
  return name === 'value' ? anyType : undefined
}

function at(message: string, start: number): string {
  return `${message.replace(/\.$/, '')} (column ${start + 1}).`
}

/** Most expressions that are kept compiled. */
const MAX_CACHED = 500
const cache = lruCache<string, CellExpression>(MAX_CACHED)

/**
 * Of a text without a problem. `references`: fields of the row's document that refer to others; `doc.customer.name` is a
 * field of the customer then, which is expected under `_expand`.
 */
export function compileCell(text: string, references: readonly string[]): CellExpression {
  const key = JSON.stringify([text, references])
  const known = cache.get(key)
  if (known) return known
  const made = compiled(text, references)
  cache.set(key, made)
  return made
}

function compiled(text: string, references: readonly string[]): CellExpression {
  const written = parsed(text)
  const through = namesOf(written).filter(
    ({ name, inBlocks, path: [field = '', ...more] }) =>
      name === 'doc' && !inBlocks && more.length > 0 && references.includes(field),
  )
  const expression = through.length === 0 ? written : parsed(expanded(text, through))
  return {
    evaluate: compileExpression<CellFrame>(expression, {
      ...callables(),
      name: (name, inBlocks) => (inBlocks ? undefined : readers[name]),
      context: ({ context }) => context,
    }),
    reads: through.map(({ path }) => path.join('.')),
  }
}

/** `doc.customer.name` as `doc._expand.customer.name`. */
function expanded(text: string, uses: readonly NameUse[]): string {
  const behindFirst = uses.map(({ end }) => end).sort((one, other) => other - one)
  return behindFirst.reduce((now, end) => `${now.slice(0, end)}._expand${now.slice(end)}`, text)
}

function parsed(text: string): ParsedExpression {
  const { expression, problem } = parseExpression(text)
  if (!expression) throw new TypeError(`A cell has an expression that cannot be read: ${problem.message}`)
  return expression
}

const readers: Readonly<Record<string, (frame: CellFrame) => unknown>> = {
  doc: ({ doc }) => doc,
  value: ({ value }) => value,
}

let known: ReturnType<typeof callableFunctions> | undefined

/** Joined at the first use. */
function callables(): ReturnType<typeof callableFunctions> {
  known ??= callableFunctions()
  return known
}
