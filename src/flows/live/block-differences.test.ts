import { expect, test } from 'vitest'
import type { Block } from '../../shared/blueprint.ts'
import { emptyContent } from '../../shared/empty-content.ts'
import { areSame, differences, plain } from './block-differences.ts'

const block = (guid: string, more: Partial<Block> = {}): Block => ({
  ...{ guid, ...emptyContent, type: 'value_default' },
  ...more,
})
const blocks = [block('a'), block('b'), block('c')]
const reordered = { type: 'value_default', ...emptyContent, guid: 'a' }

/** Counts how often other work may run. */
function counted() {
  const seen = { pauses: 0 }
  const pause = () => {
    seen.pauses += 1
  }
  return { seen, pause }
}

test.each<[string, Block[], boolean]>([
  ['equal ones', [block('a'), block('b'), block('c')], true],
  ['with fields in another order', [reordered, block('b'), block('c')], true],
  ['one less', [block('a'), block('b')], false],
  ['one more', [...blocks, block('d')], false],
  ['in another order', [block('b'), block('a'), block('c')], false],
  [
    'one that differs deep inside',
    [block('a'), block('b', { fields: { x: [{ y: 1 }] } }), block('c')],
    false,
  ],
])('blocks are the same as %s: %#', async (_, others, expected) => {
  expect(await areSame(blocks, others, () => undefined)).toBe(expected)
})

test('other work may run between blocks that are compared or copied', async () => {
  for (const work of [areSame, differences]) {
    const { seen, pause } = counted()
    await work(blocks, blocks, pause)
    expect(seen.pauses).toBe(blocks.length)
  }
  const { seen, pause } = counted()
  expect(await plain(blocks, pause)).toEqual(blocks)
  expect(seen.pauses).toBe(blocks.length)
})
