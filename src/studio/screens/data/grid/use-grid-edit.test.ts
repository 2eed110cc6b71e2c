import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTable, writeTable } from './use-grid-edit.ts'

test.each([
  ['', []],
  ['a', [['a']]],
  [
    'a\tb\nc\td\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a\t\r\n\tb',
    [
      ['a', ''],
      ['', 'b'],
    ],
  ],
  ['"a\nb"\tc', [['a\nb', 'c']]],
  ['"say ""hi"""\tc', [['say "hi"', 'c']]],
  ['5" pipe\t"open', [['5" pipe', '"open']]],
])('%j', (text, rows) => {
  expect(readTable(text)).toEqual(rows)
})

test('what is copied is what is pasted', () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('', 'a\tb', 'a\nb', '"', '""', '"a"', '\r\n', 'a"b'))
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(rows, (table) => {
      // A last row of one empty cell is as if there were none.
      fc.pre(table.at(-1)?.join('') !== '')
      expect(readTable(writeTable(table))).toEqual(table)
    }),
  )
})
