import { expect, test } from 'vitest'
import { writtenBatches } from './incremental-text-index.ts'

test.each<[string, readonly number[], readonly number[]]>([
  ['nothing', [], []],
  ['one', [5], [1]],
  ['a very long one', [65_000], [1]],
  ['as many tokens as are read at once', [10_000, 10_000], [2]],
  ['one token more', [10_000, 10_001], [1, 1]],
  ['long ones between short ones', [1, 65_000, 1, 1, 30_000], [1, 1, 2, 1]],
  ['many short ones', Array.from({ length: 250 }, () => 1), [100, 100, 50]],
])('%s', (_, tokens, sizes) => {
  const all = tokens.map((count, at) => [`guid ${at}`, count] as const)
  const batches = [...writtenBatches(new Map(all))]
  expect(batches.map(({ length }) => length)).toEqual(sizes)
  expect(batches.flat()).toEqual(all.map(([guid]) => guid))
})
