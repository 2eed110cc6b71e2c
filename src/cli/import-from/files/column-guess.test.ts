import { expect, test } from 'vitest'
import { guessColumn } from './column-guess.ts'

const days = ['28.01.2026', '29.02.2026', '28.03.2026']
const many = (count: number, text: string) => Array.from({ length: count }, () => text)

test.each<[string, readonly string[]]>([
  ['no values', ['', ' ']],
  ['names', ['Ann', 'Bob', 'Cem']],
  ['one value that fits', ['7', 'seven']],
  ['fewer than half', ['7', '8', 'x', 'y', 'z']],
  ['codes with a zero in front', ['01234', '5678', '9012', 'none']],
  ['phone numbers', ['+49 30 1', '4930', '4931']],
  ['one and zero', ['1', '0', 'x', 'x', 'x', '-']],
  ['a cross for yes', ['x', '', 'x']],
])('%s: text, and near to no type', (_what, cells) => {
  expect(guessColumn(cells, {})).toEqual({ type: 'string', limits: {}, dialect: {} })
})

test.each<[string, readonly string[], string, number, number, number]>([
  ['a day that there is not', days, 'day', 2, 3, 1],
  ['numbers of which some are words', ['1', '', '2.5', 'abc', '3'], 'number', 3, 4, 3],
  ['integers', ['1', '2', 'abc'], 'integer', 2, 3, 2],
  ['numbers with a comma', ['1,5', 'abc', '1.234,5'], 'number', 2, 3, 1],
  ['yes and no', ['ja', 'nein', 'ja', 'vielleicht'], 'boolean', 3, 4, 3],
  ['1 and 0 among words', ['yes', 'no', '1', 'yes'], 'boolean', 3, 4, 2],
  ['addresses', ['a@x.example', 'b@x.example', 'none'], 'email', 2, 3, 2],
])('%s: text, near to a type', (_what, cells, type, fits, count, wrongAt) => {
  const { type: taken, near } = guessColumn(cells, {})
  expect([taken, near]).toEqual(['string', { type, fits, count, wrongAt }])
})

test('days that may be two things are near to a type that is open', () => {
  const { type, near } = guessColumn(['03/04/2026', '05/06/2026', 'soon'], {})
  expect([type, near?.type, near?.fits, near?.open?.sample]).toEqual(['string', 'day', 2, '03/04/2026'])
  expect(guessColumn(['03/04/2026', '05/06/2026', 'soon'], { dates: 'dmy' }).near?.open).toBeUndefined()
})

test.each<[string, readonly string[], string]>([
  ['999 numbers and a word', [...many(999, '7'), 'abc'], 'integer'],
  ['ja and nein', ['ja', 'Nein', ''], 'boolean'],
  ['WAHR and FALSCH', ['WAHR', 'FALSCH'], 'boolean'],
  ['true and false', ['true', 'false'], 'boolean'],
  ['days', ['28.01.2026', '1.2.2026'], 'day'],
  ['times', ['2026-01-31T09:00Z'], 'instant'],
])('%s: the type, near to no other', (_what, cells, type) => {
  const { type: taken, near } = guessColumn(cells, {})
  expect([taken, near]).toEqual([type, undefined])
})
