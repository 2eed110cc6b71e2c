import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { functionContext } from '../../../test/function-context.ts'
import { addNumbers, multiplyNumbers } from '../../shared/numbers/decimal.ts'
import { checkExpression } from './check-expression.ts'
import { declaredFunctions, declaredMethods } from './declared/functions.ts'
import { ExpressionError } from './expression-error.ts'
import { parseExpression } from './parse-expression.ts'
import { anyType } from './value-types.ts'

/** A random expression, and what plain JavaScript makes of it. A thrown `Refused` stands for an error of the language. */
interface Sample {
  readonly text: string
  run(names: Names): unknown
}
type Names = Readonly<Record<string, unknown>>
class Refused extends Error {}

const keys = ['a', 'b', 'length', 'constructor', '__proto__', 'toString']
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(null, undefined, 0, 1, -2.5, 1e308, '', 'a', 'b1', true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('value'), { maxKeys: 3 }),
  ),
})).value

function stored(one: unknown): unknown {
  return one === undefined ? undefined : JSON.parse(JSON.stringify(one))
}

function nothing(one: unknown): one is null | undefined {
  return one === null || one === undefined
}

function numbers(a: unknown, b: unknown, calculate: (a: number, b: number) => number): number {
  if (typeof a !== 'number' || typeof b !== 'number') throw new Refused()
  const result = calculate(a, b)
  if (!Number.isFinite(result)) throw new Refused()
  return result
}

/** Without fields that are nothing: those are as missing ones. */
function bare(one: unknown): unknown {
  if (nothing(one)) return null
  if (Array.isArray(one)) return one.map(bare)
  if (typeof one !== 'object') return Object.is(one, -0) ? 0 : one
  return Object.fromEntries(
    Object.entries(one).flatMap(([key, inner]) => (nothing(inner) ? [] : [[key, bare(inner)]])),
  )
}

function ordered(a: unknown, b: unknown, compare: (a: never, b: never) => boolean): boolean {
  if ([a, b].some((one) => typeof one === 'object' && one !== null)) throw new Refused()
  if (nothing(a) || nothing(b)) return false
  if (typeof a !== typeof b) throw new Refused()
  return Reflect.apply(compare, undefined, [a, b])
}

const operators: Readonly<Record<string, (a: () => unknown, b: () => unknown) => unknown>> = {
  '+': (left, right) => {
    const [a, b] = [left(), right()]
    return typeof a === 'string' && typeof b === 'string' ? a + b : numbers(a, b, addNumbers)
  },
  '-': (a, b) => numbers(a(), b(), (x, y) => addNumbers(x, -y)),
  '*': (a, b) => numbers(a(), b(), multiplyNumbers),
  '/': (a, b) => numbers(a(), b(), (x, y) => x / y),
  '%': (a, b) => numbers(a(), b(), (x, y) => x % y),
  '**': (a, b) => numbers(a(), b(), (x, y) => x ** y),
  '<': (a, b) => ordered(a(), b(), (x, y) => x < y),
  '<=': (a, b) => ordered(a(), b(), (x, y) => x <= y),
  '>': (a, b) => ordered(a(), b(), (x, y) => x > y),
  '>=': (a, b) => ordered(a(), b(), (x, y) => x >= y),
  '==': (a, b) => isDeepStrictEqual(bare(a()), bare(b())),
  '!==': (a, b) => !isDeepStrictEqual(bare(a()), bare(b())),
  '&&': (a, b) => a() && b(),
  '||': (a, b) => a() || b(),
  '??': (a, b) => a() ?? b(),
}

function field(of: unknown, key: string): unknown {
  if (key === '__proto__' || nothing(of)) return undefined
  if (key === 'length' && (typeof of === 'string' || Array.isArray(of))) return of.length
  if (typeof of !== 'object' || Array.isArray(of)) return undefined
  return Object.getOwnPropertyDescriptor(of, key)?.value
}

const sample = fc.letrec<{ any: Sample }>((tie) => {
  const any = tie('any')
  const name = fc.constantFrom('x', 'y', 'z', 'constructor', 'toString')
  return {
    any: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc
        .constantFrom<unknown>(null, 0, 1, 2.5, 'a', "it's", true, false)
        .map((one): Sample => ({ text: JSON.stringify(one), run: () => one })),
      name.map(
        (one): Sample => ({
          text: one,
          run: (names) => (Object.hasOwn(names, one) ? names[one] : undefined),
        }),
      ),
      fc.tuple(fc.constantFrom(...Object.keys(operators)), any, any).map(
        ([operator, a, b]): Sample => ({
          text: `(${a.text}) ${operator} (${b.text})`,
          run: (names) =>
            operators[operator]?.(
              () => a.run(names),
              () => b.run(names),
            ),
        }),
      ),
      fc.tuple(any, any, any).map(
        ([a, b, c]): Sample => ({
          text: `(${a.text}) ? (${b.text}) : (${c.text})`,
          run: (names) => (a.run(names) ? b.run(names) : c.run(names)),
        }),
      ),
      any.map((a): Sample => ({ text: `!(${a.text})`, run: (names) => !a.run(names) })),
      any.map(
        (a): Sample => ({ text: `-(${a.text})`, run: (names) => numbers(0, a.run(names), (x, y) => x - y) }),
      ),
      fc
        .tuple(any, fc.constantFrom(...keys))
        .map(
          ([a, key]): Sample => ({ text: `(${a.text}).${key}`, run: (names) => field(a.run(names), key) }),
        ),
      fc.array(any, { maxLength: 3 }).map(
        (all): Sample => ({
          text: `[${all.map(({ text }) => text).join(', ')}]`,
          run: (names) => all.map((one) => one.run(names) ?? null),
        }),
      ),
      fc.tuple(any, any).map(
        ([a, b]): Sample => ({
          text: `{ a: (${a.text}), "toString": (${b.text}) }`,
          run: (names) => ({ a: a.run(names) ?? null, toString: b.run(names) ?? null }),
        }),
      ),
      fc.tuple(any, any).map(
        ([a, b]): Sample => ({
          text: `[...(${a.text}), ...(${b.text})]`,
          run: (names) =>
            [a, b].flatMap((one) => {
              const list = one.run(names) ?? []
              if (!Array.isArray(list)) throw new Refused()
              return list
            }),
        }),
      ),
      any.map(
        (a): Sample => ({
          text: `\`<\${${a.text}}>\``,
          run: (names) => {
            const inner = a.run(names) ?? ''
            if (typeof inner === 'object') throw new Refused()
            return `<${inner}>`
          },
        }),
      ),
      fc.tuple(any, any).map(
        ([a, b]): Sample => ({
          text: `[1, ${a.text}].map(x => (${b.text}))`,
          run: (names) => [1, a.run(names) ?? null].map((x) => b.run({ ...names, x }) ?? null),
        }),
      ),
    ),
  }
}).any

/** Normal form of a result: nothing at the top is undefined, and there is one zero. */
function result(run: () => unknown): unknown {
  try {
    const found = run() ?? undefined
    return found === undefined ? undefined : JSON.parse(JSON.stringify(found))
  } catch (error) {
    if (error instanceof Refused || error instanceof ExpressionError) return 'refused'
    throw error
  }
}

test('a random expression gives what plain JavaScript gives', () => {
  const names = fc
    .record({ x: value, y: value, z: value })
    .map((one) => ({ x: stored(one.x), y: stored(one.y), z: stored(one.z) }))
  const seen = { refused: 0, given: 0 }
  fc.assert(
    fc.property(sample, names, (one, input) => {
      const expected = result(() => one.run(input))
      if (expected === 'refused') seen.refused += 1
      else seen.given += 1
      expect(result(() => evaluateText(one.text, input))).toEqual(expected)
    }),
    { numRuns: 4_000 },
  )
  expect(Math.min(seen.refused, seen.given)).toBeGreaterThan(20)
})

test('what gives a value for all names passes the check, and an error blames a part of the text', () => {
  const declarations = {
    functions: declaredFunctions(),
    methods: declaredMethods(),
  }
  fc.assert(
    fc.property(sample, (one) => {
      const { expression } = parseExpression(one.text)
      if (!expression) return false
      const { problems } = checkExpression(expression, { typeOf: () => anyType, names: [], declarations })
      return problems.every(({ start, end }) => start >= 0 && start < end && end <= one.text.length)
    }),
    { numRuns: 1_000 },
  )
  expect(functionContext().spent()).toBe(0)
})
