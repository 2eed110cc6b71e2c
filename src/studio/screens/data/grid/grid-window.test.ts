import { expect, test } from 'vitest'
import { columnLefts, ROW_HEIGHT, windowOf } from './grid-window.ts'

const lefts = columnLefts(Array.from({ length: 100 }, () => 100)).slice(0, -1)

test('of 10,000 cells some hundred are drawn, wherever it is scrolled to', () => {
  for (const [top, left] of [
    [0, 0],
    [50 * ROW_HEIGHT, 5_000],
    [100 * ROW_HEIGHT - 500, 9_000],
  ] as const) {
    const { fromRow, toRow, fromColumn, toColumn } = windowOf(
      { top, left, height: 500, width: 1000 },
      100,
      lefts,
    )
    const cells = (toRow - fromRow) * (toColumn - fromColumn)
    expect(cells).toBeLessThan(700)
    expect(fromRow * ROW_HEIGHT).toBeLessThanOrEqual(top)
    expect(toRow * ROW_HEIGHT).toBeGreaterThanOrEqual(top + 500)
    expect(fromColumn * 100).toBeLessThanOrEqual(left)
    expect(toColumn * 100).toBeGreaterThanOrEqual(left + 1000)
  }
})

test('a page that became shorter draws none of the rows that are gone', () => {
  const { fromRow, toRow } = windowOf({ top: 3_000, left: 0, height: 500, width: 1000 }, 2, lefts)
  expect(toRow).toBeGreaterThanOrEqual(fromRow)
  expect(windowOf({ top: 0, left: 0, height: 500, width: 10 }, 0, [])).toEqual({
    fromRow: 0,
    toRow: 0,
    fromColumn: 0,
    toColumn: 0,
  })
})
