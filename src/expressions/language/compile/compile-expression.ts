import { errorAt } from '../blame.ts'
import type { Compiler, Evaluate, Locals } from '../evaluate.ts'
import {
  type Choice,
  type Expression,
  type Index,
  isConstant,
  type Let,
  type Logical,
  type Member,
  type MethodCall,
  type NameRead,
  type ParsedExpression,
} from '../expression.ts'
import { ExpressionError } from '../expression-error.ts'
import type { ExpressionHost, FunctionBody, MethodDeclaration } from '../function-declaration.ts'
import { callExplainer, fieldReader, isKey, readIndex, resultCheck, spendOnLongText } from '../new-text.ts'
import { kindOf } from '../value-types.ts'
import { compileArguments, compileCall, countProblem } from './compile-argument.ts'
import {
  compileArithmetic,
  compileList,
  compileNegation,
  compileObject,
  compileTemplate,
} from './compile-arithmetic.ts'
import { compileEquality, compileOrder } from './compile-comparison.ts'
import { workOf } from './part-work.ts'

/**
 * An expression as a closure over a frame. Its result is JSON, or undefined for nothing. Compiling never fails: a name or
 * function that does not exist is an error when the evaluation reaches it, and `checkExpression` finds it before.
 */
export function compileExpression<F>(
  expression: ParsedExpression,
  host: ExpressionHost<F>,
): (frame: F) => unknown {
  const error: Compiler<F>['error'] = (message, operand) => errorAt(message, operand, expression)
  const constants: Compiler<undefined> = {
    host: hostOfConstants,
    compile: (part) => compilePart(part, constants),
    error,
  }
  const compiler: Compiler<F> = {
    host,
    compile: (part) => folded<F>(part, constants) ?? compilePart(part, compiler),
    error,
  }
  const root = countedRoot(compiler.compile(expression.root), workOf(expression.root, host), host)
  if (expression.slots === 0) return (frame) => root(frame, noLocals) ?? undefined
  const { slots } = expression
  return (frame) => root(frame, new Array(slots)) ?? undefined
}

/** Of one evaluation, below which it is not worth counting: 5 µs. */
const FREE_ROOT = 50

function countedRoot<F>(root: Evaluate<F>, work: number, host: ExpressionHost<F>): Evaluate<F> {
  if (work < FREE_ROOT) return root
  return (frame, locals) => {
    host.context(frame).spend(0, work)
    return root(frame, locals)
  }
}

/** Of expressions without arrow functions, which never write one. */
const noLocals: Locals = []

function compilePart<F>(part: Expression, compiler: Compiler<F>): Evaluate<F> {
  switch (part.kind) {
    case 'literal': {
      const { value } = part
      return () => value
    }
    case 'name':
      return compileName(part, compiler)
    case 'parameter': {
      const { slot } = part
      return (_frame, locals) => locals[slot]
    }
    case 'member':
      return compileField(part, compiler)
    case 'index':
      return compileIndex(part, compiler)
    case 'list':
      return compileList(part, compiler)
    case 'object':
      return compileObject(part, compiler)
    case 'template':
      return compileTemplate(part, compiler)
    case 'unary':
      return compileNegation(part, compiler)
    case 'binary':
      return compileBinary(part, compiler)
    case 'logical':
      return compileLogical(part, compiler)
    case 'choice':
      return compileChoice(part, compiler)
    case 'let':
      return compileLet(part, compiler)
    case 'call':
      return compileCall(part, compiler)
    case 'method':
      return compileMethod(part, compiler)
  }
}

/** Each part once, in order, also where the body does not read it. */
function compileLet<F>({ bindings, body }: Let, compiler: Compiler<F>): Evaluate<F> {
  const values = bindings.map(({ slot, value }) => ({ slot, evaluate: compiler.compile(value) }))
  const root = compiler.compile(body)
  return (frame, locals) => {
    for (const { slot, evaluate } of values) locals[slot] = evaluate(frame, locals)
    return root(frame, locals)
  }
}

function compileBinary<F>(part: Extract<Expression, { kind: 'binary' }>, compiler: Compiler<F>): Evaluate<F> {
  switch (part.operator) {
    case '==':
    case '!=':
      return compileEquality(part, part.operator, compiler)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileOrder(part, part.operator, compiler)
    default:
      return compileArithmetic(part, part.operator, compiler)
  }
}

function compileName<F>(part: NameRead, compiler: Compiler<F>): Evaluate<F> {
  const read = compiler.host.name(part.name, part.inBlocks)
  if (read) return read
  return () => {
    throw compiler.error(`There is no ${part.inBlocks ? 'block' : 'name'} ${part.name}.`, part)
  }
}

/** Worked out once when it depends on nothing. What fails then, fails when it is reached, and not before. */
function folded<F>(part: Expression, constants: Compiler<undefined>): Evaluate<F> | undefined {
  if (part.kind === 'literal' || !isConstant(part)) return undefined
  try {
    const value = frozen(constants.compile(part)(undefined, noLocals))
    return () => value
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

/** Constant parts ask it for nothing, and cost no run anything. */
const hostOfConstants: ExpressionHost<undefined> = {
  name: () => undefined,
  function: () => undefined,
  method: () => undefined,
  context: () => ({
    now: () => 0,
    random: (bytes) => new Uint8Array(bytes),
    timeZone: 'UTC',
    locale: 'en',
    spend: () => undefined,
  }),
}

/** All evaluations give the same list or object. */
function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const one of Object.values(value)) frozen(one)
    Object.freeze(value)
  }
  return value
}

function compileField<F>(part: Member, compiler: Compiler<F>): Evaluate<F> {
  const outer = fieldReader(part.key)
  const direct = fieldOfName(part, compiler)
  if (direct) return direct
  if (part.of.kind !== 'member' || fieldOfName(part.of, compiler)) {
    const of = compiler.compile(part.of)
    return (frame, locals) => outer(of(frame, locals))
  }
  // Two fields at a time: half the calls of `order.customer.address.city`.
  const inner = fieldReader(part.of.key)
  const of = compiler.compile(part.of.of)
  return (frame, locals) => outer(inner(of(frame, locals)))
}

function fieldOfName<F>({ of, key }: Member, { host }: Compiler<F>): ((frame: F) => unknown) | undefined {
  return of.kind === 'name' ? host.field?.(of.name, of.inBlocks, key) : undefined
}

function compileIndex<F>(part: Index, compiler: Compiler<F>): Evaluate<F> {
  const [of, key] = [compiler.compile(part.of), compiler.compile(part.key)]
  return (frame, locals) => {
    const at = key(frame, locals)
    if (isKey(at)) return readIndex(of(frame, locals), at)
    throw compiler.error(
      `An index must be a number or the name of a field; this one is ${kindOf(at)}.`,
      part.key,
    )
  }
}

function compileLogical<F>(part: Logical, compiler: Compiler<F>): Evaluate<F> {
  const [left, right] = [compiler.compile(part.left), compiler.compile(part.right)]
  switch (part.operator) {
    case '&&':
      return (frame, locals) => left(frame, locals) && right(frame, locals)
    case '||':
      return (frame, locals) => left(frame, locals) || right(frame, locals)
    case '??':
      return (frame, locals) => left(frame, locals) ?? right(frame, locals)
  }
}

function compileChoice<F>(part: Choice, compiler: Compiler<F>): Evaluate<F> {
  const test = compiler.compile(part.test)
  const then = compiler.compile(part.then)
  const otherwise = compiler.compile(part.otherwise)
  return (frame, locals) => (test(frame, locals) ? then(frame, locals) : otherwise(frame, locals))
}

/** A method of one kind of value. */
type Method<F> = (self: unknown, frame: F, locals: Locals) => unknown

/** Which method it is depends on the value, so that each is compiled. A method of nothing gives nothing. */
function compileMethod<F>(part: MethodCall, compiler: Compiler<F>): Evaluate<F> {
  const of = compiler.compile(part.of)
  const text = compileOn('text', part, compiler)
  const list = compileOn('list', part, compiler)
  const number = compileOn('number', part, compiler)
  return (frame, locals) => {
    const self = of(frame, locals)
    if (self === undefined || self === null) return undefined
    const method =
      typeof self === 'string'
        ? text
        : typeof self === 'number'
          ? number
          : Array.isArray(self)
            ? list
            : undefined
    if (method) {
      if (typeof self === 'string') spendOnLongText(self, frame, compiler)
      return method(self, frame, locals)
    }
    const kind = kindOf(self)
    throw compiler.error(`${kind.charAt(0).toUpperCase()}${kind.slice(1)} has no method ${part.name}.`, part)
  }
}

function compileOn<F>(
  on: MethodDeclaration['on'],
  part: MethodCall,
  compiler: Compiler<F>,
): Method<F> | undefined {
  const callable = compiler.host.method(on, part.name)
  if (!callable) return undefined
  const { parameters } = callable.declaration
  const wrong = countProblem(part.name, part.arguments.length, parameters)
  if (wrong !== undefined)
    return () => {
      throw compiler.error(wrong, part)
    }
  const call = callBody(callable.body, compileArguments(part, parameters, false, compiler), compiler)
  const explain = callExplainer(part, parameters, compiler)
  const check = resultCheck(part, compiler)
  return (self, frame, locals) => {
    let result: unknown
    try {
      result = call(self, frame, locals)
    } catch (error) {
      throw explain(error)
    }
    return check(result, frame)
  }
}

function callBody<F>(body: FunctionBody, values: readonly Evaluate<F>[], { host }: Compiler<F>): Method<F> {
  const [first, second, third] = values
  if (!first) return (self, frame) => body(host.context(frame), self)
  if (!second) return (self, frame, locals) => body(host.context(frame), self, first(frame, locals))
  if (!third)
    return (self, frame, locals) =>
      body(host.context(frame), self, first(frame, locals), second(frame, locals))
  return (self, frame, locals) =>
    body(host.context(frame), self, ...values.map((value) => value(frame, locals)))
}
