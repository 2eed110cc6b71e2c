import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../../flows/blueprints/blueprint-file.ts'
import type { JsonObject } from '../../../../shared/json.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { sizeOf } from '../places/node-geometry.ts'
import { allPins, shownPins } from './shown-pins.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

function flowOf(blocks: JsonObject): Flow {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

const flow = flowOf({
  on: { type: 'on_startup_register_uri_get', in: { uri: 'tasks' } },
  search: { type: 'function_search', in: { flow: '@on.flow', storage: 'tasks', limit: 5 } },
  reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '=search.cursor' } },
  bare: { type: 'function_search' },
  failing: { type: 'fail', in: { flow: '@search.error' } },
  gone: { type: 'gone_block', in: { flow: '@on.flow' } },
})

test.each([
  ['a value that is set', 'search', ['flow', 'storage', 'limit'], ['flow', 'cursor', 'error']],
  ['only what is needed', 'bare', ['flow', 'storage'], ['flow', 'documents', 'total']],
  ['an expression', 'reply', ['flow', 'value'], ['flow']],
  ['no unused error or connection', 'on', ['uri'], ['flow']],
  ['an unknown block has none', 'gone', [], []],
])('%s', (_what, guid, into, out) => {
  expect(shownPins(flow, catalogue, guid)).toMatchObject({ in: into, out, isUnfolded: false })
})

test('what is folded is counted, and all of it is there once it is unfolded', () => {
  const folded = shownPins(flow, catalogue, 'bare')
  const all = allPins(flow, catalogue, 'bare')
  expect(folded.folded).toBe(all.in.length + all.out.length - folded.in.length - folded.out.length)
  expect(folded.folded).toBeGreaterThan(8)
  expect(all).toMatchObject({ folded: 0, isUnfolded: true })
  expect(all.in).toContain('include_removed')
})

test('a block is as high as what it shows', () => {
  const rows = (guid: string) => sizeOf(flow, catalogue, guid).height
  expect(rows('search') - rows('bare')).toBe(0)
  expect(rows('reply')).toBeLessThan(rows('search'))
})
