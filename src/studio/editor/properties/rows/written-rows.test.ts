import { expect, test } from 'vitest'
import type { RowParts } from '../../../../shared/rows/row-part.ts'
import { MOST_ROWS, movedRow, readRows, withPart, writeRows } from './written-rows.ts'

const columns: RowParts = { field: { kind: 'field' }, label: { kind: 'text' }, sortable: { kind: 'switch' } }
const links: RowParts = { label: { kind: 'text' }, href: { kind: 'text' } }

test.each([
  ['no list', { a: 1 }, columns],
  ['an expression in text', 'doc.a', columns],
  ['a number in the list', ['name', 1], columns],
  ['text where rows need an object', ['Overview'], links],
  ['a longer list', Array.from({ length: MOST_ROWS + 1 }, (_, i) => `f${i}`), columns],
] as const)('%s stays JSON', (_what, value, parts) => {
  expect(readRows(value, parts)).toBeUndefined()
})

test.each([
  ['names', ['name', 'price'], columns],
  ['objects beside names', ['name', { field: 'price', label: 'Price', sortable: true }], columns],
  ['keys that no part is for', [{ field: 'state', options: [{ value: 'a', label: 'A' }] }], columns],
  ['links', [{ label: 'Start', href: '/' }], links],
] as const)('%s come back as they were', (_what, value, parts) => {
  const rows = readRows(value, parts)
  expect(rows && writeRows(rows, parts)).toEqual(value)
})

test('no rows are no value', () => {
  expect(readRows(undefined, columns)).toEqual([])
  expect(writeRows([], columns)).toBeUndefined()
})

test('a part is set in its place, and an empty one is left out', () => {
  const row = { field: 'price', label: 'Price', hidden: true }
  expect(Object.entries(withPart(row, 'label', 'Cost'))).toEqual([
    ['field', 'price'],
    ['label', 'Cost'],
    ['hidden', true],
  ])
  expect(withPart(row, 'label', '')).toEqual({ field: 'price', hidden: true })
  expect(withPart(row, 'hidden', false)).toEqual({ field: 'price', label: 'Price' })
  expect(withPart(row, 'sortable', true)).toEqual({ ...row, sortable: true })
})

test('a row moves, but not over an end', () => {
  const rows = [{ field: 'a' }, { field: 'b' }, { field: 'c' }]
  expect(movedRow(rows, 0, 1).map(({ field }) => field)).toEqual(['b', 'a', 'c'])
  expect(movedRow(rows, 2, -1).map(({ field }) => field)).toEqual(['a', 'c', 'b'])
  expect(movedRow(rows, 0, -1)).toBe(rows)
  expect(movedRow(rows, 2, 1)).toBe(rows)
})
