import { describe, expect, test } from 'vitest'
import { checkExpression } from './check-expression.ts'
import { declaredFunctions, declaredMethods } from './declared/functions.ts'
import { parseExpression } from './parse-expression.ts'
import {
  anyType,
  conditionType,
  listOf,
  numberType,
  textType,
  type ValueType,
  wholeType,
  wordsFor,
} from './value-types.ts'

const goods: ValueType = {
  kind: 'object',
  fields: {
    at: { kind: 'text', date: 'instant' },
    due: { kind: 'text', date: 'either' },
    title: textType,
    price: numberType,
    tags: listOf(textType),
    open: conditionType,
  },
  open: false,
}
const types: Readonly<Record<string, ValueType>> = {
  goods,
  rows: listOf(goods),
  count: wholeType,
  body: { kind: 'object', fields: { qty: wholeType }, open: true },
  query: { kind: 'object', fields: { page: textType }, open: false },
  anything: anyType,
}

function checked(text: string, expected?: ValueType) {
  const { expression, problem } = parseExpression(text)
  if (!expression) throw new SyntaxError(problem.message)
  return checkExpression(expression, {
    typeOf: (name, inBlocks) => (inBlocks && name !== 'goods' ? undefined : types[name]),
    names: Object.keys(types),
    declarations: {
      functions: declaredFunctions(),
      methods: declaredMethods(),
    },
    ...(expected && { expected }),
  })
}

describe('types', () => {
  test.each([
    ['goods.price * count', 'a number'],
    ['count + 1', 'a whole number'],
    ['count / 2', 'a number'],
    ['goods.title + "x"', 'a text'],
    ['goods.price > 1 && goods.open', 'a condition'],
    ['goods.price ?? 0', 'a number'],
    ['goods.open ? 1 : null', 'a whole number'],
    ['goods.open ? 1 : "a"', 'any value'],
    ['rows.map(r => r.title)', 'a list (each element a text)'],
    ['rows.filter(r => r.open)', 'a list (each element an object)'],
    ['rows.filter(r => r.open)[0].price', 'a number'],
    ['map(rows, r => r.tags)[0][0]', 'a text'],
    ['last(rows).title.trim().length', 'a whole number'],
    ['rows.map((r, i) => i)', 'a list (each element a whole number)'],
    ['[1, 2.5]', 'a list (each element a number)'],
    ['[...goods.tags, "x"]', 'a list (each element a text)'],
    ['{ ...goods, title: 1 }.title', 'a whole number'],
    ['{ title: 1, ...anything }.title', 'any value'],
    ['body.other', 'any value'],
    ['anything.x.y', 'any value'],
    ['blocks.goods.price', 'a number'],
    [`\`\${goods.price} €\``, 'a text'],
    ['-count', 'a whole number'],
  ])('%s is %s', (text, words) => {
    const { type, problems } = checked(text)
    expect([problems, wordsFor(type)]).toEqual([[], words])
  })
})

const manyFields = (count: number): ValueType => ({
  kind: 'object',
  fields: Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, numberType])),
  open: false,
})

/** Their fields would be copied for each of hundreds of places. */
test.each([
  ['{ ...few }.f1', [], 'a number'],
  ['[few, { ...few }][0].f1', [], 'a number'],
  ['{ ...few }.nowhere', ['The object has no field nowhere'], 'nothing'],
  ['many.f1', [], 'a number'],
  ['{ ...many }.f1', [], 'any value'],
  ['{ ...many, f1: "a" }.f1', [], 'a text'],
  ['{ f1: "a", ...many }.f1', [], 'any value'],
  ['[many, { f1: "a" }][0].f1', [], 'any value'],
  ['{ ...many }.nowhere', [], 'any value'],
])('of %s: %j, %s, where many has over 64 fields', (text, said, words) => {
  const { expression } = parseExpression(text)
  if (!expression) throw new SyntaxError(text)
  const known: Readonly<Record<string, ValueType>> = { few: manyFields(64), many: manyFields(65) }
  const { type, problems } = checkExpression(expression, {
    typeOf: (name) => known[name],
    names: Object.keys(known),
    declarations: { functions: declaredFunctions(), methods: declaredMethods() },
  })
  const sentences = problems.map(({ message }) => message.split('.', 1)[0])
  expect([sentences, wordsFor(type)]).toEqual([said, words])
})

/** The marked text is where the problem is. */
test.each([
  'query.page < "m"',
  'anything >= "2026"',
  'anything >= "2026-03-01"',
  'query.page || "10"',
  'goods.price == 1 || goods.open',
  'goods.open || false',
  'contains(goods.tags, query.page)',
  'contains(goods.title, "5")',
  'contains(anything, 5)',
  'lower(goods.title) == "open"',
  'lower(doc.title) == "Open"',
])('%s means what it says', (text) => {
  expect(checked(text).problems.filter(({ message }) => !message.includes('no name doc'))).toEqual([])
})

describe('finds', () => {
  test.each<[string, 'error' | 'warning', string]>([
    ['«godos».price', 'error', 'There is no name godos. Did you mean goods?'],
    ['blocks.«count»', 'error', 'There is no block count.'],
    ['«round»', 'error', 'Call the function: round(…)'],
    ['«Number»(1)', 'error', 'There is no function Number. Did you mean number?'],
    ['«parseInt»("1")', 'error', 'There is no function parseInt. Did you mean number?'],
    ['«rond»(1)', 'error', 'There is no function rond. Did you mean round?'],
    ['goods.title.«trimm»()', 'error', 'Did you mean trim?'],
    ['goods.price.«trim»()', 'error', 'There is no method for a number: trim'],
    ['«goods.pric»', 'warning', 'The object has no field pric. Did you mean price?'],
    ['«rows.title»', 'warning', 'first(list)'],
    ['«goods["pric"]»', 'warning', 'Did you mean price?'],
    ['count * «query.page»', 'error', 'Write number(x)'],
    ['count + «query.page»', 'error', 'Write number(x)'],
    ['«query.page» == 1', 'error', 'Write number(x)'],
    ['«query.page» > 1', 'error', 'Write number(x)'],
    ['-«query.page»', 'error', 'Write number(x)'],
    ['round(«query.page»)', 'error', 'round: value must be a number; this is a text. Write number(x)'],
    ['let a = query.page; count + «a»', 'error', 'Write number(x)'],
    ['let a = goods; «a.pric»', 'warning', 'Did you mean price?'],
    ['let a = «godos»; 1', 'error', 'There is no name godos.'],
    ['«goods.open == 1»', 'warning', 'never holds'],
    ['«goods.open != goods»', 'warning', 'always holds'],
    ['«goods.open < 1»', 'error', 'compares two values of one type'],
    ['«rows» < 1', 'error', 'has no order'],
    ['count > «null»', 'warning', 'never holds'],
    ['«rows» + 1', 'error', 'this is a list'],
    ['count - «null»', 'error', 'this is nothing'],
    [`\`\${«rows»}\``, 'error', 'cannot contain a list'],
    ['[...«count»]', 'error', 'Only a list'],
    ['{ ...«rows» }', 'error', 'Only an object'],
    ['«round()»', 'error', 'is missing'],
    ['«round(1, 2, 3)»', 'error', 'at most 2 arguments'],
    ['rows.map(«1»)', 'error', 'must be an arrow function'],
    ['round(«x => x»)', 'error', 'cannot be an arrow function'],
    ['rows.map(r => «r.tilte»)', 'warning', 'Did you mean title?'],
    ['sumBy(rows, r => «r.title»)', 'error', 'must give a number'],
    ['goods[«rows»]', 'error', 'An index must be'],
    ['query.page < «"10"»', 'warning', '"10" is before "9". Write number(x) and 10 without quotes.'],
    ['«"9.5"» >= anything', 'warning', 'Write 9.5 without quotes.'],
    ['goods.title == "a" || «"b"»', 'warning', 'not compared with anything'],
    ['goods.price == 1 || 2 > count || «3»', 'warning', 'write contains([a, b], x)'],
    ['goods.title == («"a"» || "b")', 'warning', 'always taken'],
    ['«contains(goods.tags, 5)»', 'warning', 'Write text(x) to make a text of it.'],
    ['«contains([1, 2], query.page)»', 'warning', 'its elements are a whole number'],
    ['«goods.at == "2026-03-01"»', 'warning', 'Write x >= day && x <= day'],
    ['«today() != goods.at»', 'warning', 'A day never equals an instant'],
    ['goods.at < «"2026-3-1"»', 'warning', '"2026-3-1" is none of them.'],
    ['«"31.12.2026"» >= goods.due', 'warning', 'Dates are texts such as "2026-03-01"'],
    ['now() > «"tomorrow"»', 'warning', '"tomorrow" is none of them.'],
    ['format(goods.at, «"yyyy-MM-dd hh:mm"»)', 'warning', 'hh counts to 12'],
    ['format(goods.at, «"HH:MM"»)', 'warning', 'Minutes are mm.'],
    ['format(goods.at, «"dd.mm.yyyy"»)', 'warning', 'The month is MM.'],
    ['lower(goods.title) == «"Open"»', 'warning', 'lower never gives "Open". Write "open".'],
  ])('%s: %s', (marked, severity, message) => {
    const { problems } = checked(marked.replace(/[«»]/g, ''))
    expect(problems).toHaveLength(1)
    const [problem] = problems
    expect(problem?.message).toContain(message)
    expect([problem?.severity, problem?.start, problem?.end]).toEqual([
      severity,
      marked.indexOf('«'),
      marked.indexOf('»') - 1,
    ])
  })

  test.each([
    'goods.at >= "2026-03-01" && goods.at <= "2026-03-01"',
    'goods.due == "2026-03-01" || goods.due == "2026-03-01T09:00:00Z" || goods.due == ""',
    'goods.due < "2026" && goods.due >= "2025-06"',
    'goods.due == today() || goods.at < now()',
    'format(goods.at, "h:mm a")',
    `format(goods.at, "d MMMM yyyy, HH:mm:ss 'hh'")`,
    'format(goods.at, "HHmm dd.MM.yy")',
  ])('%s says nothing', (text) => {
    expect(checked(text).problems).toEqual([])
  })

  test.each<[string, ValueType, number]>([
    ['rows', textType, 1],
    ['goods.title', textType, 0],
    ['null', textType, 0],
    ['anything', textType, 0],
    ['goods.tags', listOf(textType), 0],
    ['rows', listOf(textType), 1],
    ['goods.price', wholeType, 0],
  ])('%s where %j is wanted has %d problems', (text, expected, count) => {
    expect(checked(text, expected).problems).toHaveLength(count)
  })

  test('all problems of one expression', () => {
    expect(checked('nope1 + nope2.x * count(rows, 2, 3)').problems.length).toBeGreaterThan(2)
  })
})
