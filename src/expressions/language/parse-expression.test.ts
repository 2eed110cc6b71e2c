import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { namesOf } from './expression.ts'
import { MAX_EXPRESSION, parseExpression } from './parse-expression.ts'

/** The marked text is where the problem is. */
describe('refuses', () => {
  test.each([
    ['«»', 'is empty'],
    ['«  »', 'is empty'],
    ['a +«»', 'not finished'],
    ['a «b»', 'after the end'],
    ['a«)» + (b', 'after the end'],
    ['«a, b»', 'one value'],
    ['«a = 1»', 'cannot assign'],
    ['«a++»', 'cannot change'],
    ['«new Date()»', 'not available'],
    ['«this»', 'not available'],
    ['«function () {}»', 'not available'],
    ['«/x/»', 'matches('],
    ['«1n»', 'without n'],
    ['«010»', 'leading zero'],
    ['«1e999»', 'too large'],
    ['«+a»', 'number(x)'],
    ['«typeof a»', 'operator typeof'],
    ['«delete a.b»', 'operator delete'],
    ['«a & b»', '&&'],
    ['«a in b»', 'contains'],
    ['«a instanceof b»', 'instanceof'],
    ['«x => x»', 'argument of a function'],
    ['f(«async x => x»)', 'without braces'],
    ['f(«x => { return x }»)', 'without braces'],
    ['f((«{ a }») => a)', 'plain name'],
    ['f((«x = 1») => x)', 'plain name'],
    ['f(«(a, b, c, d) => a»)', 'at most 3'],
    ['f(«blocks» => 1)', 'the name blocks'],
    ['f(«...a»)', 'the list itself'],
    ['«a["c"]»()', 'by their name'],
    ['«f()»()', 'by their name'],
    ['«a`x`»', 'backticks'],
    ['«[1,,2]»', 'missing'],
    ['{ «get a() { return 1 }» }', 'values only'],
    ['{ «a() {}» }', 'values only'],
    ['{ [«a»]: 1 }', 'written out'],
    ['{ «__proto__»: a }', '__proto__'],
    ['{ «"__proto__"»: a }', '__proto__'],
    ['«undefined»', 'Write null'],
    ['«blocks»', 'name of a block'],
    ['«blocks»["a"]', 'name of a block'],
    ['a «<!-»- b', 'Unexpected'],
    ['«import("a")»', 'not available'],
    ['«class {}»', 'not available'],
  ])('%s', (marked, message) => {
    const { problem } = parseExpression(marked.replace(/[«»]/g, ''))
    expect(problem?.message).toContain(message)
    const [start, end] = [marked.indexOf('«'), marked.indexOf('»') - 1]
    expect([problem?.start, problem?.end]).toEqual([start, end])
  })
})

const sum = (parts: number) => Array.from({ length: parts }, () => 'a').join('+')

describe('bounds', () => {
  test.each([
    ['10,000 characters', `"${'x'.repeat(MAX_EXPRESSION - 2)}"`],
    ['2,000 parts in a chain', sum(1_000)],
    ['64 fields in a chain', `a${'.b'.repeat(64)}`],
    ['64 elements in a chain', `a${'[0].b'.repeat(32)}`],
    ['many chains of fields', Array.from({ length: 20 }, () => `a${'.b'.repeat(64)}`).join(' + ')],
    ['63 parentheses', `${'('.repeat(63)}a${')'.repeat(63)}`],
  ])('%s are read', (_what, text) => {
    expect(parseExpression(text).problem).toBeUndefined()
  })

  test.each([
    ['characters', `"${'x'.repeat(MAX_EXPRESSION - 1)}"`, '10,001 characters'],
    ['parts', sum(1_001), 'more than 2,000 parts'],
    ['fields in a chain', `a${'.b'.repeat(65)}`, 'more than 64 fields one after the other'],
    ['fields in a long chain', `a${'.b'.repeat(4_900)}`, 'more than 64 fields one after the other'],
    ['elements in a chain', `a${'[0]'.repeat(65)}`, 'more than 64 fields one after the other'],
    ['fields of both kinds', `a${'["b"]?.c'.repeat(33)}`, 'more than 64 fields one after the other'],
    ['parentheses', `${'('.repeat(64)}a${')'.repeat(64)}`, 'deeper than 64'],
    ...[
      '(',
      '[',
      '!',
      '- ',
      'f(',
      'a?b:',
      'a**',
      '{a:',
      'x=>',
      'f(x=>',
      '`${',
      'new ',
      'a=',
      '...',
      'await ',
    ].map((opening): [string, string, string] => [
      `${opening}…`,
      `${opening.repeat(Math.floor((MAX_EXPRESSION - 1) / opening.length))}a`,
      '',
    ]),
  ])('too many %s are refused', (_what, text, message) => {
    expect(parseExpression(text).problem?.message).toContain(message)
  })
})

describe('named parts', () => {
  test.each([
    ['let a = 1', 'Write ; behind the value of let a.', 9],
    ['let a = 1 a', 'Write ; behind the value of let a.', 9],
    ['let a = 1;', 'Write the value of the expression behind the last ;.', 9],
    ['let a = 1; let a = 2; a', 'Another part is named a already.', 15],
    ['let blocks = 1; blocks', 'A part cannot have the name blocks.', 4],
    ['let a = x => x; a', 'An arrow function is only allowed as the argument', 8],
    ['let a = (b = 1); a', 'An expression cannot assign a value.', 9],
    ['let [a] = b; a', 'Unexpected text after the end of the expression.', 0],
    ['1 + (let a = 1; a)', '', 0],
    ['var a = 1; a', '', 0],
    ['a; b', 'Unexpected text after the end of the expression.', 1],
    ['let a = 1; a; b', 'Unexpected text after the end of the expression.', 12],
    [
      `${Array.from({ length: 600 }, (_, at) => `let a${at} = 1;`).join('')}1${'+1'.repeat(700)}`,
      'more than 2,000 parts',
      0,
    ],
  ])('%s: %s', (text, message, start) => {
    const { problem } = parseExpression(text)
    expect(problem?.message).toContain(message)
    if (start > 0) expect(problem?.start).toBe(start)
  })
})

describe('names', () => {
  test.each([
    ['a.b.c + blocks.d.e', ['a.b.c 0-1', 'blocks: d.e 15-16']],
    ['a["b c"][0].d', ['a.b c 0-1']],
    ['a[b.c].d', ['a 0-1', 'b.c 2-3']],
    ['rows.map(r => r.n * f.g)', ['rows 0-4', 'f.g 20-21']],
    ['r + rows.map(r => r)', ['r 0-1', 'rows 4-8']],
    ['rows.map(r => blocks.r.x)', ['rows 0-4', 'blocks: r.x 21-22']],
    ['round(round)', ['round 6-11']],
    ['{ a, b: c, ...d.e }', ['a 2-3', 'c 8-9', 'd.e 14-15']],
    ['constructor.__proto__', ['constructor.__proto__ 0-11']],
    ['a.b?.c', ['a.b.c 0-1']],
    ['let a = b.c; a + d', ['b.c 8-9', 'd 17-18']],
    ['1 + "a"', []],
  ])('of %s', (text, names) => {
    const { expression } = parseExpression(text)
    const written =
      expression &&
      namesOf(expression).map(
        ({ name, inBlocks, path, start, end }) =>
          `${inBlocks ? 'blocks: ' : ''}${[name, ...path].join('.')} ${start}-${end}`,
      )
    expect(written).toEqual(names)
  })
})

test('random text gives an expression, or a problem within the text', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(
      'a',
      '.',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '`',
      '${',
      '=>',
      '?',
      ':',
      '+',
      '"',
      '//',
      '/*',
      '/',
      ',',
      '...',
      '1',
      ' in ',
      '!',
      '=',
      '\n',
      '\\',
      '#',
      '@',
      'blocks',
      'async ',
      'new ',
      '0x',
      'e',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      const { expression, problem } = parseExpression(text)
      if (expression)
        return namesOf(expression).every(
          ({ name, start, end }) => text.slice(start, end) === name || text.includes('\\'),
        )
      return (
        problem.message.endsWith('.') &&
        problem.start >= 0 &&
        problem.start <= problem.end &&
        problem.end <= text.length
      )
    }),
    { numRuns: 3_000 },
  )
})

test.each(['a.b + 1', 'let x = a.b; x + x', 'items.map(item => item.price)'])(
  '%s that was read before gives the same tree again, and not the same object',
  (text) => {
    const [first, again] = [parseExpression(text), parseExpression(text)]
    expect(first.expression).toBeDefined()
    expect(again).toEqual(first)
    expect(again.expression?.root).not.toBe(first.expression?.root)
  },
)

test('a text that is refused is refused again', () => {
  for (const text of ['let a = 1', 'a +', 'let a = 1;', 'b <!-- c'])
    expect([parseExpression(text), parseExpression(text)]).toEqual([
      { problem: expect.anything() },
      { problem: expect.anything() },
    ])
})
