import { describe, expect, test } from 'vitest'
import { blockOf, type Cursor, moved, placed, reread, start, tabbed } from './grid-cursor.ts'

const extent = { rows: 30, columns: 4 }
const at = (row: number, column: number): Cursor => ({ row, column, anchor: { row, column } })
const key = (name: string, held: readonly ('shift' | 'ctrl')[] = []) => ({
  key: name,
  shiftKey: held.includes('shift'),
  ctrlKey: held.includes('ctrl'),
  metaKey: false,
})

describe('keys that move', () => {
  test.each([
    ['a', [], undefined],
    ['ArrowUp', [], at(4, 2)],
    ['ArrowDown', ['ctrl'], at(29, 2)],
    ['ArrowLeft', ['ctrl'], at(5, 0)],
    ['ArrowRight', [], at(5, 3)],
    ['PageDown', [], at(17, 2)],
    ['PageUp', [], at(0, 2)],
    ['Home', ['ctrl'], at(0, 0)],
    ['End', [], at(5, 3)],
    ['ArrowDown', ['shift'], { row: 6, column: 2, anchor: { row: 5, column: 2 } }],
  ] as const)('%s %j', (name, held, to) => {
    expect(moved(at(5, 2), key(name, held), extent)).toEqual(to)
  })

  test('none leaves the grid', () => {
    for (const name of ['ArrowUp', 'ArrowLeft', 'PageUp', 'Home'])
      expect(moved(start, key(name), extent)).toEqual(start)
    expect(placed(start, { row: 99, column: 99 }, { rows: 0, columns: 0 })).toEqual(at(0, 0))
  })
})

describe('rows that are read again', () => {
  const rows = ['a', 'b', 'c', 'd']
  const block: Cursor = { row: 2, column: 1, anchor: { row: 1, column: 0 } }
  test.each([
    ['are the same', rows, block],
    ['have a new one above', ['new', ...rows], { row: 3, column: 1, anchor: { row: 2, column: 0 } }],
    ['have a new one in the block, which ends', ['a', 'b', 'new', 'c', 'd'], at(3, 1)],
    ['have one less in the block, which ends', ['a', 'c', 'd'], at(1, 1)],
    ['stand the other way round', ['d', 'c', 'b', 'a'], at(1, 1)],
    ['have lost that of the cursor', ['a', 'b', 'd'], at(2, 1)],
    ['are others', ['x', 'y'], at(2, 1)],
  ])('%s', (_, now, cursor) => {
    expect(reread(block, rows, now)).toEqual(cursor)
  })
})

test('Tab goes on in reading order, and past the ends the focus leaves', () => {
  expect(tabbed(at(0, 3), false, extent)).toEqual(at(1, 0))
  expect(tabbed(at(1, 0), true, extent)).toEqual(at(0, 3))
  expect([tabbed(start, true, extent), tabbed(at(29, 3), false, extent)]).toEqual([undefined, undefined])
})

test('the block is the same whichever corner the cursor is in', () => {
  const block = { from: { row: 1, column: 0 }, to: { row: 3, column: 2 } }
  expect(blockOf({ row: 3, column: 0, anchor: { row: 1, column: 2 } })).toEqual(block)
  expect(blockOf({ row: 1, column: 2, anchor: { row: 3, column: 0 } })).toEqual(block)
})
