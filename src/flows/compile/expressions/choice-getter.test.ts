import { expect, test } from 'vitest'
import type { Expression } from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import type { Frame } from '../frame.ts'
import { choiceGetter } from './expression-getter.ts'
import { referencedKey } from './pin-expression.ts'

/** Out-pins of blocks, by name. */
type Values = Readonly<Record<string, unknown>>

const frame: Frame = {
  // A choice reads nothing of the run itself.
  get run(): never {
    throw new TypeError('A choice has no business with the run.')
  },
  slots: [],
  depth: 0,
  parameters: undefined,
  sent: undefined,
  result: undefined,
  finished: false,
}

/** What the expression chooses, and what it read on the way; `compiled:` before parts that are not mere references. */
function chosen(text: string, values: Values): { value: unknown; read: string[] } | undefined {
  const { expression } = parseExpression(text)
  if (!expression) throw new Error(`${text} is no expression.`)
  const read: string[] = []
  const recording = (name: string, value: unknown) => () => {
    read.push(name)
    return value
  }
  const get = choiceGetter(expression.root, {
    reference(part) {
      const key = referencedKey(part)
      return key !== undefined && Object.hasOwn(values, key) ? recording(key, values[key]) : undefined
    },
    compile: (part: Expression) =>
      recording(`compiled:${part.kind}`, part.kind === 'literal' ? part.value : part.kind),
  })
  return get && { value: get(frame), read }
}

const stored = (text: string) => new StoredJson(text)
const document = stored('{"a":1}')

test.each([
  'a.document',
  '"text"',
  'a.document || b.document',
  'a.document && b.document',
  '[a.document ?? b.document]',
  'a.n + 1',
])('%s chooses nothing', (text) => {
  expect(chosen(text, { 'a.document': document, 'b.document': document, 'a.n': 1 })).toBeUndefined()
})

test.each<[string, Values, unknown, string[]]>([
  // The first that is there; the second is not read.
  ['a.x ?? b.x', { 'a.x': document, 'b.x': 1 }, document, ['a.x']],
  ['a.x ?? b.x', { 'a.x': undefined, 'b.x': document }, document, ['a.x', 'b.x']],
  ['a.x ?? b.x', { 'a.x': null, 'b.x': 1 }, 1, ['a.x', 'b.x']],
  ['a.x ?? b.x', { 'a.x': stored('null'), 'b.x': 1 }, 1, ['a.x', 'b.x']],
  ['a.x ?? b.x', { 'a.x': 0, 'b.x': 1 }, 0, ['a.x']],
  ['a.x ?? b.x', { 'a.x': '', 'b.x': 1 }, '', ['a.x']],
  ['a.x ?? b.x', { 'a.x': stored('false'), 'b.x': 1 }, stored('false'), ['a.x']],
  ['a.x ?? b.x ?? c.x', { 'a.x': null, 'b.x': undefined, 'c.x': document }, document, ['a.x', 'b.x', 'c.x']],

  // By whether the test holds; stored JSON is not parsed for objects and lists.
  ['a.x ? b.x : c.x', { 'a.x': document, 'b.x': 1, 'c.x': 2 }, 1, ['a.x', 'b.x']],
  ['a.x ? b.x : c.x', { 'a.x': stored('[]'), 'b.x': 1, 'c.x': 2 }, 1, ['a.x', 'b.x']],
  ['a.x ? b.x : c.x', { 'a.x': stored('0'), 'b.x': 1, 'c.x': 2 }, 2, ['a.x', 'c.x']],
  ['a.x ? b.x : c.x', { 'a.x': stored('""'), 'b.x': 1, 'c.x': 2 }, 2, ['a.x', 'c.x']],
  ['a.x ? b.x : c.x', { 'a.x': stored('null'), 'b.x': 1, 'c.x': 2 }, 2, ['a.x', 'c.x']],
  ['a.x ? b.x : c.x', { 'a.x': stored('"x"'), 'b.x': 1, 'c.x': 2 }, 1, ['a.x', 'b.x']],
  ['a.x ? b.x : c.x', { 'a.x': undefined, 'b.x': 1, 'c.x': 2 }, 2, ['a.x', 'c.x']],

  // Other parts are compiled, and choices in choices are choices.
  ['a.x ? 201 : 200', { 'a.x': document }, 201, ['a.x', 'compiled:literal']],
  ['a.x > 1 ? b.x : c.x', { 'b.x': document, 'c.x': 2 }, document, ['compiled:binary', 'b.x']],
  ['a.x ? b.x ?? c.x : 5', { 'a.x': true, 'b.x': null, 'c.x': document }, document, ['a.x', 'b.x', 'c.x']],
  ['item ?? a.x', { item: null, 'a.x': document }, document, ['item', 'a.x']],
  ['blocks.a.x ?? 5', { 'blocks.a.x': null }, 5, ['blocks.a.x', 'compiled:literal']],
])('%s of %j', (text, values, value, read) => {
  expect(chosen(text, values)).toEqual({ value, read })
})

test('a stored document passes as the same text, unparsed', () => {
  const text = stored('{"never parsed')
  expect(chosen('a.x ?? b.x', { 'a.x': text })?.value).toBe(text)
  expect(chosen('a.x ? a.x : 1', { 'a.x': text })?.value).toBe(text)
})
