import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { grouped } from '../model/palette-search.ts'
import { MOST_USED, withMostUsed } from './most-used.ts'

const blocks = (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group))
const names = (of: readonly { readonly identifier: string }[] = []) => of.map(({ identifier }) => identifier)

test('what is used most stands first, and in no other group', () => {
  const uses = [
    { type: 'function_search', count: 3 },
    { type: 'branch', count: 7 },
    { type: 'fail', count: 1 },
    { type: 'of_a_later_version', count: 9 },
  ]
  const [first, ...rest] = withMostUsed(blocks, uses)
  expect([first?.group, names(first?.blocks)]).toEqual([MOST_USED, ['branch', 'function_search']])
  const others = rest.flatMap((one) => names(one.blocks))
  expect(others).not.toContain('branch')
  expect(others).toHaveLength(blocks.length - 2)
})

test('it is a short list, and none where nothing is used', () => {
  const [first] = withMostUsed(
    blocks,
    blocks.map(({ identifier }) => ({ type: identifier, count: 5 })),
  )
  expect(first?.blocks).toHaveLength(6)
  expect(withMostUsed(blocks, [])).toEqual(grouped(blocks))
})

test('uses by a former name count', () => {
  const [renamed] = blocks.filter(({ aliases }) => aliases.length > 0)
  const [alias = ''] = renamed?.aliases ?? []
  const [first] = withMostUsed(blocks, [{ type: alias, count: 2 }])
  expect(names(first?.blocks)).toEqual([renamed?.identifier])
})
