import type {
  Expression as AcornExpression,
  Literal as AcornLiteral,
  ArrowFunctionExpression,
  BinaryExpression,
  CallExpression,
  MemberExpression,
  Node,
  PrivateIdentifier,
  Property,
  SpreadElement,
  Super,
  TemplateLiteral,
} from 'acorn'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import type {
  Argument,
  Arrow,
  Binary,
  Binding,
  Entry,
  Expression,
  Literal,
  Place,
  Spread,
} from './expression.ts'
import { RefusedNode } from './expression-error.ts'

function readLiteral(node: AcornLiteral): Literal {
  const { value, start, end, raw = '' } = node
  if (node.regex) throw new RefusedNode('Write a pattern as text: matches(text, "pattern").', node)
  if (node.bigint !== undefined) throw new RefusedNode('Write the number without n.', node)
  if (typeof value === 'number') {
    if (/^0\d/.test(raw)) throw new RefusedNode('Write the number without a leading zero.', node)
    if (!Number.isFinite(value)) throw new RefusedNode('The number is too large.', node)
    if (/^[\d.eE+-]+$/.test(raw) && !keepsDigits(raw))
      throw new RefusedNode('The number has more digits than a number keeps. Write it as a text.', node)
    return { kind: 'literal', start, end, value }
  }
  if (typeof value === 'string' || typeof value === 'boolean' || value === null)
    return { kind: 'literal', start, end, value }
  throw refusal(node)
}

function readTemplateTexts(node: TemplateLiteral): readonly string[] {
  return node.quasis.map((quasi) => quasi.value.cooked ?? '')
}

const operators: Readonly<Record<string, Binary['operator']>> = {
  '+': '+',
  '-': '-',
  '*': '*',
  '/': '/',
  '%': '%',
  '**': '**',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '==': '==',
  '===': '==',
  '!=': '!=',
  '!==': '!=',
}

function binaryOperator(node: BinaryExpression): Binary['operator'] {
  const operator = operators[node.operator]
  if (operator) return operator
  throw refusal(node)
}

/** What a builder probably wanted of something that the language does not have. */
const advice: Readonly<Record<string, string>> = {
  AssignmentExpression: 'An expression cannot assign a value. Compare with ==.',
  UpdateExpression: 'An expression cannot change a value. Write x + 1.',
  ArrowFunctionExpression: 'An arrow function is only allowed as the argument of a function or method.',
  SequenceExpression: 'Write one value only: the comma separates arguments, elements and fields.',
  TaggedTemplateExpression: 'Text in backticks cannot follow a name. Write + between them.',
  '+': 'Write number(x) to make a number of a text.',
  '&': 'The operator & is not available. Write && for "and".',
  '|': 'The operator | is not available. Write || for "or".',
  '^': 'The operator ^ is not available. Write ** for a power.',
  in: 'The operator in is not available. Write contains(list, x) or has(object, name).',
}

/** A part of JavaScript that the language does not have. */
function refusal(node: Node): RefusedNode {
  const operator = 'operator' in node && typeof node.operator === 'string' ? node.operator : undefined
  const said = advice[node.type] ?? (operator === undefined ? undefined : advice[operator])
  const what = operator === undefined ? 'This part of JavaScript' : `The operator ${operator}`
  return new RefusedNode(said ?? `${what} is not available in expressions.`, node)
}

export const MAX_NESTING = 64
/** Fields and elements one after the other: no document is deeper. */
const MAX_CHAIN = 64
const MAX_NODES = 2_000
const MOST_PARAMETERS = 3

/** The parameters that can be seen from a node, the innermost last. */
type Scope = readonly string[]
type Inside = AcornExpression | Super | PrivateIdentifier

/** A part that is named before the expression, and where its name is. */
export interface NamedPart {
  readonly name: string
  readonly at: Place
  readonly tree: AcornExpression
}

/** Our tree from acorn's. Throws `RefusedNode` at the first node that the language does not have. */
export function readNodes(
  tree: AcornExpression,
  named: readonly NamedPart[] = [],
): { readonly root: Expression; readonly slots: number } {
  const reader = new NodeReader()
  const bindings: Binding[] = []
  let scope: Scope = []
  for (const { name, at, tree: value } of named) {
    if (name === 'blocks' || name === 'undefined')
      throw new RefusedNode(`A part cannot have the name ${name}.`, at)
    if (scope.includes(name)) throw new RefusedNode(`Another part is named ${name} already.`, at)
    bindings.push({ name, slot: scope.length, value: reader.read(value, scope, 1) })
    scope = [...scope, name]
  }
  const body = reader.read(tree, scope, 1)
  const slots = Math.max(reader.slots, scope.length)
  if (bindings.length === 0) return { root: body, slots }
  return { root: { kind: 'let', start: 0, end: tree.end, bindings, body }, slots }
}

class NodeReader {
  slots = 0
  #nodes = 0
  /** Of members and elements within a chain: how many there are from its end to them. */
  readonly #links = new WeakMap<Node, number>()

  /** A chain such as `a + b + c` or `a.b.c` is one level, however long: only its first part keeps the depth. */
  read(node: Inside, scope: Scope, depth: number): Expression {
    this.#count(node, depth)
    const { start, end } = node
    const below = (one: Inside) => this.read(one, scope, depth + 1)
    switch (node.type) {
      case 'ParenthesizedExpression':
        return below(node.expression)
      case 'ChainExpression':
        return this.read(node.expression, scope, depth)
      case 'Literal':
        return readLiteral(node)
      case 'Identifier':
        return this.#identifier(node.name, node, scope)
      case 'TemplateLiteral':
        return {
          kind: 'template',
          start,
          end,
          texts: readTemplateTexts(node),
          values: node.expressions.map(below),
        }
      case 'UnaryExpression': {
        const { operator } = node
        if (operator !== '!' && operator !== '-') throw refusal(node)
        return { kind: 'unary', start, end, operator, of: below(node.argument) }
      }
      case 'BinaryExpression': {
        const operator = binaryOperator(node)
        const left = this.read(node.left, scope, depth)
        return { kind: 'binary', start, end, operator, left, right: below(node.right) }
      }
      case 'LogicalExpression': {
        const left = this.read(node.left, scope, depth)
        return { kind: 'logical', start, end, operator: node.operator, left, right: below(node.right) }
      }
      case 'ConditionalExpression': {
        const [test, then] = [below(node.test), below(node.consequent)]
        return { kind: 'choice', start, end, test, then, otherwise: below(node.alternate) }
      }
      case 'ArrayExpression': {
        const elements = node.elements.map((one) => this.#element(one, node, scope, depth + 1))
        return { kind: 'list', start, end, elements }
      }
      case 'ObjectExpression': {
        const entries = node.properties.map((one) => this.#entry(one, scope, depth + 1))
        return { kind: 'object', start, end, entries }
      }
      case 'MemberExpression':
        return this.#member(node, scope, depth)
      case 'CallExpression':
        return this.#call(node, scope, depth)
      default:
        throw refusal(node)
    }
  }

  #count(node: Node, depth: number) {
    if (++this.#nodes > MAX_NODES)
      throw new RefusedNode(`The expression has more than ${MAX_NODES.toLocaleString('en')} parts.`, node)
    if (depth > MAX_NESTING)
      throw new RefusedNode(`The expression is nested deeper than ${MAX_NESTING} levels.`, node)
  }

  #identifier(name: string, { start, end }: Node, scope: Scope): Expression {
    const slot = scope.lastIndexOf(name)
    if (slot >= 0) return { kind: 'parameter', start, end, name, slot }
    if (name === 'blocks') throw new RefusedNode('Write the name of a block after "blocks.".', { start, end })
    if (name === 'undefined') throw new RefusedNode('Write null for nothing.', { start, end })
    return { kind: 'name', start, end, name, inBlocks: false, at: { start, end } }
  }

  #element(node: AcornExpression | SpreadElement | null, list: Node, scope: Scope, depth: number) {
    if (node === null) throw new RefusedNode('An element of the list is missing.', list)
    return node.type === 'SpreadElement' ? this.#spread(node, scope, depth) : this.read(node, scope, depth)
  }

  #spread(node: SpreadElement, scope: Scope, depth: number): Spread {
    const of = this.read(node.argument, scope, depth)
    return { kind: 'spread', start: node.start, end: node.end, of }
  }

  #entry(node: Property | SpreadElement, scope: Scope, depth: number): Entry | Spread {
    if (node.type === 'SpreadElement') return this.#spread(node, scope, depth)
    const { start, end, shorthand, key } = node
    if (node.kind !== 'init' || node.method)
      throw new RefusedNode('An object in an expression has values only.', node)
    if (node.computed)
      throw new RefusedNode('The name of a field must be written out; it cannot be calculated.', key)
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined
    if (name === undefined) throw refusal(key)
    if (name === '__proto__') throw new RefusedNode('A field cannot have the name __proto__.', key)
    return { kind: 'entry', start, end, key: name, shorthand, value: this.read(node.value, scope, depth) }
  }

  #member(node: MemberExpression, scope: Scope, depth: number): Expression {
    const { start, end, object, property } = node
    if (isBlocks(object)) {
      if (node.computed || property.type !== 'Identifier')
        throw new RefusedNode('Write the name of a block after "blocks.".', object)
      const at = { start: property.start, end: property.end }
      return { kind: 'name', start, end, name: property.name, inBlocks: true, at }
    }
    this.#countLink(node)
    const of = this.read(object, scope, depth)
    if (node.computed) return { kind: 'index', start, end, of, key: this.read(property, scope, depth + 1) }
    if (property.type !== 'Identifier') throw refusal(property)
    return { kind: 'member', start, end, of, key: property.name }
  }

  /**
   * Before the rest of the chain is read: each link is a call within a call, here and where types are worked out, and what collects
   * names would cost the square of the length.
   */
  #countLink(node: MemberExpression) {
    const links = this.#links.get(node) ?? 1
    if (links > MAX_CHAIN)
      throw new RefusedNode(`The expression reads more than ${MAX_CHAIN} fields one after the other.`, node)
    this.#links.set(node.object, links + 1)
  }

  #call(node: CallExpression, scope: Scope, depth: number): Expression {
    const { start, end, callee } = node
    const input = () => node.arguments.map((one) => this.#argument(one, scope, depth + 1))
    if (callee.type === 'Identifier') {
      const at = { start: callee.start, end: callee.end }
      return { kind: 'call', start, end, name: callee.name, at, arguments: input() }
    }
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
      throw new RefusedNode('Only functions and methods can be called, by their name.', callee)
    const { name, start: from, end: to } = callee.property
    const of = this.read(callee.object, scope, depth)
    return { kind: 'method', start, end, of, name, at: { start: from, end: to }, arguments: input() }
  }

  #argument(node: AcornExpression | SpreadElement, scope: Scope, depth: number): Argument {
    if (node.type === 'SpreadElement')
      throw new RefusedNode('A list cannot be spread into arguments; give the list itself.', node)
    return node.type === 'ArrowFunctionExpression'
      ? this.#arrow(node, scope, depth)
      : this.read(node, scope, depth)
  }

  #arrow(node: ArrowFunctionExpression, scope: Scope, depth: number): Arrow {
    this.#count(node, depth)
    const { start, end, body } = node
    if (node.async || body.type === 'BlockStatement')
      throw new RefusedNode('Write the value directly after =>, without braces and async.', node)
    if (node.params.length > MOST_PARAMETERS)
      throw new RefusedNode(`An arrow function has at most ${MOST_PARAMETERS} parameters.`, node)
    const names = node.params.map((parameter) => {
      if (parameter.type !== 'Identifier')
        throw new RefusedNode('A parameter of an arrow function must be a plain name.', parameter)
      if (parameter.name === 'blocks')
        throw new RefusedNode('A parameter cannot have the name blocks.', parameter)
      return parameter.name
    })
    const inner = [...scope, ...names]
    this.slots = Math.max(this.slots, inner.length)
    const parameters = names.map((name, at) => ({ name, slot: scope.length + at }))
    return { kind: 'arrow', start, end, parameters, body: this.read(body, inner, depth + 1) }
  }
}

function isBlocks(node: Node): boolean {
  return 'name' in node && node.type === 'Identifier' && node.name === 'blocks'
}
