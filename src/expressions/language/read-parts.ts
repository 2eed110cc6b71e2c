import type { Literal as AcornLiteral, BinaryExpression, Node, TemplateLiteral } from 'acorn'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import type { Binary, Literal } from './expression.ts'
import { RefusedNode } from './refused-node.ts'

export function readLiteral(node: AcornLiteral): Literal {
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

export function readTemplateTexts(node: TemplateLiteral): readonly string[] {
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

export function binaryOperator(node: BinaryExpression): Binary['operator'] {
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
export function refusal(node: Node): RefusedNode {
  const operator = 'operator' in node && typeof node.operator === 'string' ? node.operator : undefined
  const said = advice[node.type] ?? (operator === undefined ? undefined : advice[operator])
  const what = operator === undefined ? 'This part of JavaScript' : `The operator ${operator}`
  return new RefusedNode(said ?? `${what} is not available in expressions.`, node)
}
