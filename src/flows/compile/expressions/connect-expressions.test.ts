import { expect, test } from 'vitest'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import { constantReader } from './connect-expressions.ts'

function reader(text: string): () => unknown {
  const { expression } = parseExpression(text)
  if (expression === undefined) throw new Error(`${text} is no expression.`)
  const read = constantReader({ where: false, parsed: expression })
  return () => read({})
}

test('a sample may cost the same each time', () => {
  const read = reader('range(1, 9000).map(n => n * 2).length')
  for (let times = 0; times < 3; times++) expect(read()).toEqual({ value: 9_000 })
})

/** Each list was short enough, and there were nine thousand of them. */
test.each([
  'range(1, 9000).map(a => range(1, 9000).length)',
  `range(1, 9000).map(n => ${Array.from({ length: 400 }, () => 'n*n').join('+')})`,
])('a sample that costs more is ended: %.60s', (text) => {
  expect(reader(text)).toThrow('too many elements')
})
