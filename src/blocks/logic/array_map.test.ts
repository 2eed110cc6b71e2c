import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import type { JsonValue } from '../../shared/json.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './array_map.ts'

interface Frame {
  readonly item: JsonValue
  readonly index: number
}

test('more than 10,000 items are refused before the first is looked at', async () => {
  let pulled = 0
  const array = Array.from({ length: 10_001 }, () => 0)
  const result = () => {
    pulled += 1
  }
  await expect(runBlock(block, { inputs: { array, result } })).rejects.toThrow(
    'must hold at most 10,000 items',
  )
  expect(pulled).toBe(0)
})

test('exactly 10,000 items are mapped', async () => {
  const array = Array.from({ length: 10_000 }, (_, at) => at)
  const { outputs } = await runBlock(block, {
    inputs: { array, result: ({ item, index }: Frame) => item === index },
  })
  expect(outputs.array).toHaveLength(10_000)
  expect(outputs.array).not.toContain(false)
})

test('each item is pulled once, in order, with its index', async () => {
  const frames: Frame[] = []
  const result = (frame: Frame) => {
    frames.push(frame)
    return `${frame.index}:${String(frame.item)}`
  }
  const { outputs } = await runBlock(block, { inputs: { array: ['a', null, 3], result } })
  expect(frames).toEqual([
    { item: 'a', index: 0 },
    { item: null, index: 1 },
    { item: 3, index: 2 },
  ])
  expect(outputs).toEqual({ array: ['0:a', '1:null', '2:3'] })
})

test.each([
  ['a missing list', { result: 1 }, []],
  ['an empty list', { array: [], result: 1 }, []],
  ['one value is a list of one', { array: 'x', result: ({ item }: Frame) => `${String(item)}!` }, ['x!']],
  ['documents', { array: new StoredJson('[{"n":1}]'), result: ({ item }: Frame) => item }, [{ n: 1 }]],
  [
    'an empty result is null',
    { array: [1, 2], result: ({ item }: Frame) => (item === 1 ? undefined : item) },
    [null, 2],
  ],
  ['a constant result', { array: [1, 2], result: 'same' }, ['same', 'same']],
  ['no result wired', { array: [1, 2] }, [1, 2]],
])('%s', async (_case, inputs, array) => {
  expect((await runBlock(block, { inputs })).outputs.array).toEqual(array)
})

test('what fails for one item fails the block', async () => {
  const result = ({ index }: Frame) => {
    if (index === 1) throw new RangeError('item 1')
  }
  await expect(runBlock(block, { inputs: { array: [1, 2, 3], result } })).rejects.toThrow('item 1')
})
