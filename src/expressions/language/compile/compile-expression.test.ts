import { describe, expect, test } from 'vitest'
import { evaluateText } from '../../../../test/evaluate-expression.ts'
import { functionContext } from '../../../../test/function-context.ts'
import { ExpressionError } from '../expression-error.ts'
import { parseExpression } from '../parse-expression.ts'
import { compileExpression } from './compile-expression.ts'

const names = {
  title: ' Tea ',
  price: 12.5,
  count: 3,
  open: true,
  none: null,
  tags: ['a', 'b', null],
  goods: { document: { price: 4, name: 'Tea', deep: { er: 1 }, 'odd key': 2 }, constructor: 'own' },
  rows: [{ n: 1, open: true }, { n: 2 }, { n: 3, open: true }],
  'blocks.item': { value: 'block' },
  item: { value: 'frame' },
  hostile: JSON.parse('{ "__proto__": { "bad": 1 }, "toString": 2, "length": 9 }'),
}

describe('gives', () => {
  test.each<[string, unknown]>([
    ['1 + 2 * 3', 7],
    ['2 ** 3 ** 2', 512],
    ['0.1 + 0.2', 0.3],
    ['"2026-03-31T10:00:00Z" <= "2026-03-31"', true],
    ['"2026-03-31" >= "2026-03-31T10:00:00Z"', true],
    ['"2026-03-31T10:00:00Z" > "2026-03-31"', false],
    ['"2026-03-31" < "2026-03-31T10:00:00Z"', false],
    ['"2026-04-01T00:00:00Z" <= "2026-03-31"', false],
    ['"u\u0308" == "\u00fc"', true],
    ['"u\u0308" != "\u00fc"', false],
    ['[{ a: "u\u0308" }] == [{ a: "\u00fc" }]', true],
    ['contains("Mu\u0308ller", "\u00fcl")', true],
    ['contains(["u\u0308"], "\u00fc")', true],
    ['startsWith("\u00fcber", "u\u0308")', true],
    ['"Menu\u0308".endsWith("\u00fc")', true],
    ['"u\u0308" == "u"', false],
    ['6.5 - 4.1', 2.4],
    ['1.15 * 100', 115],
    ['7 % 4 - -1', 4],
    ['"a" + \'b\'', 'ab'],
    ['(1 + 2) * 3 // a comment', 9],
    ['let twice = price * 2; twice + twice', 50],
    ['let a = 2; let b = a + 1; // named\n [a, b].map(x => x * b)', [6, 9]],
    ['let rows = tags; rows.length', 3],
    ['let a = [1, 2].map(x => x + 1); a.map(x => x * a[0])', [4, 6]],
    ['let none = null; none ?? "x"', 'x'],
    ['let let = 1; let + 1', 2],
    ['null', undefined],
    ['none', undefined],
    ['[none, missing]', [null, null]],
    ['{ a: none, "b c": 1, 3: 2 }', { a: null, 'b c': 1, '3': 2 }],
    ['{ a: 1 }', { a: 1 }],
    ['{}', {}],
    ['{ price, ...goods.document, name: "x" }', { price: 4, name: 'x', deep: { er: 1 }, 'odd key': 2 }],
    ['[...tags, ...[], 1, ...none]', ['a', 'b', null, 1]],
    ['{ ...none }', {}],
    [`\`\${title.trim()}: \${price}\${none} \${open}\``, 'Tea: 12.5 true'],
    ['goods.document.deep.er', 1],
    ['goods?.document?.name', 'Tea'],
    ['goods.nothing.at.all', undefined],
    ['none.field', undefined],
    ['price.field', undefined],
    ['title.field', undefined],
    ['tags.map', undefined],
    ['title.length', 5],
    ['tags.length', 3],
    ['tags[1]', 'b'],
    ['tags[-1]', undefined],
    ['tags[0.5]', undefined],
    ['tags["length"]', 3],
    ['title[1]', 'T'],
    ['goods["document"]["odd key"]', 2],
    ['goods.document[none]', undefined],
    ['item.value + blocks.item.value', 'frameblock'],
    ['price > 10 && count < 4', true],
    ['count > none', false],
    ['none <= none', false],
    ['"a" < "b"', true],
    ['false < open', true],
    ['none ?? 5', 5],
    ['0 || "x"', 'x'],
    ['"" && missing', ''],
    ['[] ? 1 : 2', 1],
    ['!none', true],
    ['-count', -3],
    ['open ? "y" : "n"', 'y'],
    ['null == missing', true],
    ['none === missing', true],
    ['1 == "1"', false],
    ['0 == null', false],
    ['false == null', false],
    ['[1, { a: [2] }] == [1, { a: [2] }]', true],
    ['[1, 2] != [1]', true],
    ['{ a: 1, b: null } == { a: 1 }', true],
    ['{ a: 1 } == { a: 1, b: null }', true],
    ['{ a: 1 } == { a: 1, b: 2 }', false],
    ['[] == {}', false],
    ['rows.filter(r => r.open).map(r => r.n * count)', [3, 9]],
    ['rows.map((r, i) => i + r.n)', [1, 3, 5]],
    [
      'rows.map(r => rows.map(q => q.n * r.n))',
      [
        [1, 2, 3],
        [2, 4, 6],
        [3, 6, 9],
      ],
    ],
    [
      'rows.map(r => tags.map(r => r))',
      [
        ['a', 'b', null],
        ['a', 'b', null],
        ['a', 'b', null],
      ],
    ],
    ['rows.map(r => r.missing)', [null, null, null]],
    ['rows.reduce((sum, r) => sum + r.n, 0)', 6],
    ['none.map(x => x)', undefined],
    ['missing.trim().length', undefined],
    ['round(none)', undefined],
    ['round(12.5, none)', 13],
    ['round(price * 1.111, 2)', 13.89],
  ])('%s', (text, value) => {
    expect(evaluateText(text, names)).toEqual(value)
  })
})

describe('own fields only', () => {
  test.each<[string, unknown]>([
    ['goods.constructor', 'own'],
    ['rows[0].constructor', undefined],
    ['rows[0].toString', undefined],
    ['rows[0].__proto__', undefined],
    ['rows[0]["__proto__"]', undefined],
    ['rows[0]["hasOwnProperty"]', undefined],
    ['rows.constructor', undefined],
    ['rows["constructor"]', undefined],
    ['title.constructor', undefined],
    ['title["constructor"]', undefined],
    ['price.toFixed', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['hostile.toString', 2],
    ['hostile.length', 9],
    ['hostile.__proto__', undefined],
    ['({ ...hostile }).bad', undefined],
    ['{ ...hostile }', { toString: 2, length: 9 }],
    ['({ ...hostile }) == ({ toString: 2, length: 9 })', true],
  ])('%s', (text, value) => {
    expect(evaluateText(text, names)).toEqual(value)
  })

  test('a spread with a hostile key leaves prototypes alone', () => {
    const value = evaluateText('{ ...hostile }', names)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(Object(value))).toEqual(['toString', 'length'])
  })
})

/** The marked operand is where the error is. */
describe('refuses', () => {
  test.each<[string, string, readonly string[]]>([
    ['1 + «title»', 'is a text and its left side a number. Write number(x)', ['title']],
    ['«title» + 1', 'Write number(x)', ['title']],
    ['price * «title»', 'two numbers; its right side is a text', ['title']],
    ['«none» + 1', 'its left side is nothing', ['none']],
    ['price - «goods.document.missing»', 'is nothing', ['goods.document.missing']],
    ['«tags» + tags', 'is a list', ['tags']],
    ['price / «(count - 3)»', 'divided by 0', ['count']],
    ['«10 ** 400»', 'not a finite number', []],
    ['-«title»', 'takes a number', ['title']],
    ['price < «title»', 'number(x)', ['title']],
    ['1 < «open»', 'one type', ['open']],
    ['«goods» < 1', 'an object has no order', ['goods']],
    ['none < «tags»', 'a list has no order', ['tags']],
    [`\`a \${«tags»}\``, 'cannot contain a list', ['tags']],
    ['[...«title»]', 'Only a list', ['title']],
    ['{ ...«tags» }', 'Only an object', ['tags']],
    ['goods[«open»]', 'An index must be', ['open']],
    ['round(«title»)', 'round: value must be a number', ['title']],
    ['round(1, «price»)', 'a whole number', ['price']],
    ['«round()»', 'is missing', []],
    ['«round(1, 2, 3)»', 'at most 2 arguments', []],
    ['«nonsense(1)»', 'no function nonsense', []],
    ['«open.trim()»', 'A condition has no method trim', ['open']],
    ['rows.map(«1»)', 'must be an arrow function', []],
    ['round(«x => x»)', 'cannot be an arrow function', []],
    ['rows.map(r => «r.open» * 2)', 'is a condition', ['rows']],
    ['rows.map(r => tags.map(t => r.n + «t»))', 'is a text', ['rows', 'tags']],
    ['let a = title; let b = a; 1 + «b»', 'is a text', ['title']],
    ['let a = rows; a.map(r => «r.open» * 2)', 'is a condition', ['rows']],
  ])('%s', (marked, message, blamed) => {
    const [start, end] = [marked.indexOf('«'), marked.indexOf('»') - 1]
    const text = marked.replace(/[«»]/g, '')
    const problem = thrownBy(() => evaluateText(text, names))
    expect(problem.message).toContain(message)
    expect(problem.message).toMatch(/^[A-Za-z].*\.$/)
    const outer = text[start] === '(' ? 1 : 0
    expect([problem.start, problem.end]).toEqual([start + outer, end - outer])
    expect(problem.names.map((use) => [use.name, ...use.path].join('.'))).toEqual(blamed)
  })
})

function thrownBy(call: () => unknown): ExpressionError {
  try {
    call()
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
  return new ExpressionError('', { start: 0, end: 0 }, [])
}

describe('bounds', () => {
  const long = 'x'.repeat(600_000)

  test.each([
    ['long + long', 'more than 1,000,000 characters'],
    [`\`\${long}\${long}\``, 'more than 1,000,000 characters'],
    ['[...many, ...many]', 'more than 10,000 elements'],
    ['many.concat(many)', 'more than 10,000 elements'],
  ])('%s is refused', (text, message) => {
    const many = Array.from({ length: 6_000 }, (_, at) => at)
    expect(thrownBy(() => evaluateText(text, { long, many })).message).toContain(message)
  })

  test.each([
    ['[...rows]', 3],
    ['{ ...goods.document }', 4],
    ['rows == rows', 0],
    ['rows == [...rows]', 3 + 4],
    ['goods.document == { ...goods.document }', 4 + 13],
    ['rows.map(r => [...tags])', 12],
    ['long + "x"', 600],
    ['1 + 1', 0],
  ])('%s costs the budget %d', (text, cost) => {
    const context = functionContext()
    evaluateText(text, { ...names, long }, context)
    expect(context.spent()).toBe(cost)
  })

  test('what is constant is worked out once and cannot be changed', () => {
    const { expression } = parseExpression('[{ a: 1 + 1 }]')
    if (!expression) throw new Error('not read')
    const evaluate = compileExpression<undefined>(expression, {
      name: () => undefined,
      function: () => undefined,
      method: () => undefined,
      context: () => functionContext(),
    })
    const first = evaluate(undefined)
    expect(first).toEqual([{ a: 2 }])
    expect(evaluate(undefined)).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
  })

  test('a part that let has named is worked out once, and of no other evaluation', () => {
    let asked = 0
    const names = {
      get title() {
        asked += 1
        return 'Tea'
      },
    }
    expect(evaluateText('let t = title; t + t + t', names)).toBe('TeaTeaTea')
    const before = asked
    expect(evaluateText('let t = title; 1', names)).toBe(1)
    expect(asked).toBe(before * 2)
  })

  test('a constant that fails does so only when it is reached', () => {
    expect(evaluateText('open || 1 / 0', names)).toBe(true)
    expect(thrownBy(() => evaluateText('open && 1 / 0', names)).message).toContain('divided by 0')
  })

  test('an evaluation inside an evaluation keeps its own parameters', () => {
    const inner: () => unknown = () => evaluateText('rows.map(r => r.n)', names)
    const { expression } = parseExpression('rows.map(r => [other, r])')
    if (!expression) throw new Error('not read')
    const evaluate: (depth: number) => unknown = compileExpression<number>(expression, {
      function: () => undefined,
      method: () => ({
        declaration: {
          name: 'map',
          parameters: [{ name: 'values', type: { kind: 'arrow', gives: 'any', takes: 'item' } }],
          gives: 'arrows',
          help: '',
          example: '',
        },
        body: (_context, list: readonly unknown[], arrow: (one: unknown) => unknown) => list.map(arrow),
      }),
      name: (name) => (depth) => (name === 'rows' ? [depth] : depth > 0 ? evaluate(depth - 1) : inner()),
      context: () => functionContext(),
    })
    expect(evaluate(1)).toEqual([[[[[1, 2, 3], 0]], 1]])
  })
})
