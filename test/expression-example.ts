import { type Expression, type Node, parseExpressionAt, type SpreadElement } from 'acorn'
import { functionBodies, methodBodies } from '../src/expressions/functions/function-bodies.ts'
import type { FunctionContext } from '../src/expressions/language/function-declaration.ts'

type Names = ReadonlyMap<string, unknown>
const functions = functionBodies()
const methods = { text: methodBodies('text'), list: methodBodies('list'), number: methodBodies('number') }

/** Evaluates the few kinds of expressions that examples of functions consist of, with the bodies of the table. */
export function evaluateExample(source: string, context: FunctionContext): unknown {
  return evaluate(parseExpressionAt(source, 0, { ecmaVersion: 'latest' }), new Map(), context)
}

function evaluate(
  node: Node | Expression | SpreadElement | null,
  names: Names,
  context: FunctionContext,
): unknown {
  const value = (inner: Node | Expression | SpreadElement | null) => evaluate(inner, names, context)
  const known: Expression | SpreadElement | null = isExpression(node) ? node : null
  switch (known?.type) {
    case 'Literal':
      return known.value ?? undefined
    case 'Identifier':
      return names.get(known.name)
    case 'ArrayExpression':
      return known.elements.map((element) => value(element) ?? null)
    case 'ObjectExpression':
      return Object.fromEntries(
        known.properties.map((property) => {
          if (property.type !== 'Property') throw new TypeError(property.type)
          const { key } = property
          const name = key.type === 'Identifier' ? key.name : value(key)
          return [String(name), value(property.value) ?? null]
        }),
      )
    case 'UnaryExpression':
      return -Number(value(known.argument))
    case 'ConditionalExpression':
      return value(known.test) ? value(known.consequent) : value(known.alternate)
    case 'BinaryExpression':
      return calculated(known.operator, value(known.left), value(known.right))
    case 'MemberExpression':
      return Reflect.get(
        Object(value(known.object)),
        known.property.type === 'Identifier' ? known.property.name : '',
      )
    case 'ArrowFunctionExpression':
      return (...given: readonly unknown[]) => {
        const own = known.params.map((param, i): [string, unknown] => [
          param.type === 'Identifier' ? param.name : '',
          given[i],
        ])
        return evaluate(known.body, new Map([...names, ...own]), context)
      }
    case 'CallExpression': {
      const given = known.arguments.map(value)
      const { callee } = known
      if (callee.type === 'Identifier') return called(functions.get(callee.name), context, given)
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') break
      const self = value(callee.object)
      const kind = Array.isArray(self) ? 'list' : typeof self === 'number' ? 'number' : 'text'
      return called(methods[kind].get(callee.property.name), context, [self, ...given])
    }
  }
  throw new TypeError(`An example cannot use ${node?.type}.`)
}

function isExpression(node: Node | Expression | SpreadElement | null): node is Expression | SpreadElement {
  return node !== null
}

function called(
  body: ((context: FunctionContext, ...given: unknown[]) => unknown) | undefined,
  context: FunctionContext,
  given: readonly unknown[],
): unknown {
  if (body === undefined) throw new TypeError('There is no such function.')
  return body(context, ...given)
}

function calculated(operator: string, left: unknown, right: unknown): unknown {
  const [a, b] = [Number(left), Number(right)]
  switch (operator) {
    case '>':
      return a > b
    case '<':
      return a < b
    case '*':
      return a * b
    case '+':
      return a + b
    case '-':
      return a - b
    case '%':
      return a % b
  }
  throw new TypeError(operator)
}
