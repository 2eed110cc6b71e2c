/**
 * Expressions that say who may do what: over `user`, and of a storage also over `doc`.
 *
 * A field may lead through references, as in `doc.supplier.owner`, in what a search can ask.
 *
 * What a search can ask of a document means here what it means in a `where`: a comparison with a value that is nothing holds for no
 * document, so `doc.owner == user.guid` lets an anonymous caller see nothing. `see` is such a query as a whole. In the other rules a part that
 * no search can ask is evaluated on the document; where it reads the user, it is false for an anonymous caller.
 */
import { callableFunctions, knownDeclarations } from '../../expressions/functions/callable-functions.ts'
import { errorAt } from '../../expressions/language/blame.ts'
import { checkExpression } from '../../expressions/language/check-expression.ts'
import { compileExpression } from '../../expressions/language/compile/compile-expression.ts'
import { fieldChangeNames } from '../../expressions/language/declared/field-changes.ts'
import { calledFunctions } from '../../expressions/language/declared/functions.ts'
import {
  type Expression,
  type NameUse,
  namesIn,
  namesOf,
  type ParsedExpression,
} from '../../expressions/language/expression.ts'
import type { ExpressionHost, FunctionContext } from '../../expressions/language/function-declaration.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import {
  conditionType,
  listOf,
  type ObjectType,
  objectType,
  textType,
} from '../../expressions/language/value-types.ts'
import { compileWhere, isNone } from '../../expressions/language/where/compile-where.ts'
import { readWhere } from '../../expressions/language/where/read-where.ts'
import type { WhereCondition } from '../../expressions/language/where/where-condition.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { type Lookup, matches } from '../../storage/search/evaluate-query.ts'
import { MOST_STEPS, type RuleScope, referenceQuery, stepsOf } from './reference-query.ts'

/** `see`: must be a query. `write`: create, change and remove. `field`: has no document. */
export type RuleKind = 'see' | 'write' | 'field'

/** What a rule sees. */
export interface RuleFrame {
  /** With `_meta`. */
  readonly doc: JsonObject
  /** Nothing for an anonymous caller. */
  readonly user: JsonObject | undefined
  readonly context: FunctionContext
  /** The documents that a rule leads to. Only rules that lead to some need it. */
  readonly lookup?: Lookup | undefined
}

/** As the checker knows the user. A name, an e-mail address and settings are the user's own to change, so no rule can ask for them. */
const userType: ObjectType = {
  kind: 'object',
  open: false,
  fields: { guid: textType, username: textType, groups: listOf(textType), scopes: listOf(textType) },
}

const strict = { maybe: false }

/**
 * What is wrong with the text, as a sentence with its column; undefined when it can be compiled. `saved`: also what would fail
 * whenever the rule is asked; a stored one stays as it is.
 */
export function ruleProblem(
  text: string,
  kind: RuleKind,
  scope: RuleScope,
  { saved = false } = {},
): string | undefined {
  const { expression, problem } = parseExpression(text)
  if (!expression) return at(problem.message, problem.start)
  const misread = callsProblem(expression) ?? userProblem(expression)
  if (misread !== undefined) return misread
  const names = kind === 'field' ? ['user'] : ['doc', 'user']
  const { problems } = checkExpression(expression, {
    typeOf: (name, inBlocks) =>
      inBlocks || !names.includes(name) ? undefined : name === 'user' ? userType : objectType,
    names,
    declarations: knownDeclarations(),
    expected: conditionType,
  })
  const [first] = problems.filter(({ severity }) => severity === 'error' || (saved && severity === 'refused'))
  if (first) return at(first.message, first.start)
  const [untranslated] = kind === 'see' ? readWhere(expression, strict).problems : []
  if (untranslated) return at(untranslated.message, untranslated.start)
  return kind === 'field' ? undefined : referenceProblem(expression, expression.root, scope)
}

/** What is wrong with how the rule leads to other documents. */
function referenceProblem(parsed: ParsedExpression, root: Expression, scope: RuleScope): string | undefined {
  const references = namesIn(root).filter((use) => leads(use, scope))
  const far = references.find(({ path }) => stepsOf(path, scope).length > MOST_STEPS)
  if (far) return at(`${far.path.join('.')} leads through more than ${MOST_STEPS} references.`, far.start)
  const [first] = references
  if (first === undefined) return undefined
  const { condition, problems } = readWhere({ ...parsed, root }, strict)
  if (problems.length === 0) {
    try {
      referenceQuery(sampled(condition), scope)
      return undefined
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      return at(error.message, first.start)
    }
  }
  if (root.kind === 'logical' && root.operator !== '??')
    return referenceProblem(parsed, root.left, scope) ?? referenceProblem(parsed, root.right, scope)
  return at(
    `${first.path.join('.')} is in another document. A rule can only compare it with a value, as a search does, joined by && and ||.`,
    first.start,
  )
}

function leads({ name, inBlocks, path }: NameUse, scope: RuleScope): boolean {
  return name === 'doc' && !inBlocks && stepsOf(path, scope).length > 0
}

/** Whether a rule leads through this reference, as far as it can be read. */
export function usesReferences(text: string, scope: RuleScope, { from, field }: Reference): boolean {
  const { expression } = parseExpression(text)
  if (!expression) return false
  return namesOf(expression).some(
    (use) =>
      leads(use, scope) && stepsOf(use.path, scope).some((one) => one.from === from && one.field === field),
  )
}

/** Whether a rule asks anything of another document. */
export function usesOtherDocuments(text: string, scope: RuleScope): boolean {
  const { expression } = parseExpression(text)
  return expression !== undefined && namesOf(expression).some((use) => leads(use, scope))
}

function callsProblem({ root }: ParsedExpression): string | undefined {
  const { names, varies } = calledFunctions(root)
  if (names.has('maybe'))
    return 'maybe cannot be used in a rule: an empty value would leave the comparison out.'
  if (names.has('search')) return 'search cannot be used in a rule: compare a field with a value.'
  if (varies.has('random')) return 'A rule cannot use random values.'
  if (varies.has('language')) return 'A rule cannot depend on a language.'
  const change = [...names].find((name) => fieldChangeNames.has(name))
  return change === undefined ? undefined : `${change} is for blocks that change documents.`
}

function userProblem(expression: ParsedExpression): string | undefined {
  for (const { name, path, start, inBlocks } of namesOf(expression)) {
    const [field] = path
    if (name !== 'user' || inBlocks || (field !== undefined && Object.hasOwn(userType.fields, field)))
      continue
    const known = Object.keys(userType.fields).join(', ')
    return at(
      `A rule knows these of the user: ${known}${field === undefined ? '' : `; ${field} is none of them`}.`,
      start,
    )
  }
  return undefined
}

function at(message: string, start: number): string {
  return `${message.replace(/\.$/, '')} (column ${start + 1}).`
}

export type RuleQuery = (frame: RuleFrame) => Query
export type RuleTest = (frame: RuleFrame) => boolean

/** Of a `see` without a problem; both throw for others, and a function that was compiled throws ExpressionError for values that do not fit. */
export function compileQueryRule(text: string, scope: RuleScope): RuleQuery {
  const parsed = parsedRule(text)
  const { condition, problems } = readWhere(parsed, strict)
  if (problems[0]) throw new TypeError(`The rule cannot be a query: ${problems[0].message}`)
  return queryOf(parsed, condition, scope)
}

export function compileTestRule(text: string, scope: RuleScope): RuleTest {
  const parsed = parsedRule(text)
  return testOf(parsed, parsed.root, scope)
}

function parsedRule(text: string): ParsedExpression {
  const { expression, problem } = parseExpression(text)
  if (!expression) throw new TypeError(`The rule cannot be read: ${problem.message}`)
  return expression
}

function testOf(parsed: ParsedExpression, root: Expression, scope: RuleScope): RuleTest {
  const part = { ...parsed, root }
  const { condition, problems } = readWhere(part, strict)
  if (problems.length === 0) {
    const query = queryOf(parsed, condition, scope)
    return (frame) => matches(query(frame), frame.doc, frame.lookup)
  }
  if (root.kind === 'logical' && root.operator !== '??') {
    const [left, right] = [testOf(parsed, root.left, scope), testOf(parsed, root.right, scope)]
    return root.operator === '&&'
      ? (frame) => left(frame) && right(frame)
      : (frame) => left(frame) || right(frame)
  }
  const evaluate = compileExpression<RuleFrame>(part, host())
  const readsUser = namesIn(root).some(({ name }) => name === 'user')
  return (frame) => (!readsUser || frame.user !== undefined) && Boolean(evaluate(frame))
}

/** Whether the rule allows the user any document at all: false where what it asks of the user alone refuses already. */
export function compilePossibleRule(text: string, scope: RuleScope): RuleTest {
  const parsed = parsedRule(text)
  return possibleOf(parsed, parsed.root, scope)
}

function possibleOf(parsed: ParsedExpression, root: Expression, scope: RuleScope): RuleTest {
  const { condition, problems } = readWhere({ ...parsed, root }, strict)
  if (problems.length === 0) {
    const query = queryOf(parsed, condition, scope)
    return (frame) => !isNone(query(frame))
  }
  if (root.kind === 'logical' && root.operator !== '??') {
    const [left, right] = [possibleOf(parsed, root.left, scope), possibleOf(parsed, root.right, scope)]
    return root.operator === '&&'
      ? (frame) => left(frame) && right(frame)
      : (frame) => left(frame) || right(frame)
  }
  const names = namesIn(root)
  if (names.some(({ name }) => name === 'doc')) {
    const readsUser = names.some(({ name }) => name === 'user')
    return (frame) => !readsUser || frame.user !== undefined
  }
  return testOf(parsed, root, scope)
}

function queryOf(parsed: ParsedExpression, condition: WhereCondition, scope: RuleScope): RuleQuery {
  const own = compileWhere<RuleFrame>(condition, {
    value: (part) => compileExpression({ ...parsed, root: part }, host()),
    condition(part, negated) {
      const read = compileExpression({ ...parsed, root: part }, host())
      return (frame) => Boolean(read(frame)) !== negated
    },
    error: (problem, part) => errorAt(`The value that a field is compared with ${problem}.`, part, parsed),
    textProblem: () => undefined,
  })
  return (frame) => referenceQuery(own(frame), scope)
}

/**
 * The query of a `see` for some user, to find the fields by which documents are found. Conditions about the user alone do not hide
 * what stands beside them.
 */
export function sampledRule(text: string, scope: RuleScope): Query {
  return referenceQuery(sampled(readWhere(parsedRule(text), strict).condition), scope)
}

function sampled(condition: WhereCondition): Query {
  return compileWhere<undefined>(condition, {
    value: (_part, isList) => () => (isList ? ['sample'] : 'sample'),
    condition: (_part, _negated, inside) => () => inside === 'and',
    error: (problem) => new TypeError(problem),
    textProblem: () => undefined,
  })(undefined)
}

const readers: Readonly<Record<string, (frame: RuleFrame) => unknown>> = {
  doc: ({ doc }) => doc,
  user: ({ user }) => user,
}

let hosted: ExpressionHost<RuleFrame> | undefined

/** Joined at the first use. */
function host(): ExpressionHost<RuleFrame> {
  hosted ??= { ...callableFunctions(), name: (name) => readers[name], context: ({ context }) => context }
  return hosted
}
