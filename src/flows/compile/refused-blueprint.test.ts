/** A refusal says in its message which problems there are: a log, a command and a failing test show nothing else. */
import { expect, test } from 'vitest'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { importBlueprint } from '../blueprints/blueprint-file.ts'
import { compileToRun } from './compile-blueprint.ts'

/** How many blocks of a type that does not exist, and what is said of them. */
test.each<[number, string]>([
  [1, '1 problem. odd1: There is no block of the type "odd".'],
  [
    3,
    '3 problems. odd1: There is no block of the type "odd". odd2: There is no block of the type "odd". odd3: There is no block of the type "odd".',
  ],
  [
    5,
    '5 problems. odd1: There is no block of the type "odd". odd2: There is no block of the type "odd". odd3: There is no block of the type "odd". 2 more.',
  ],
])('%i problems', async (count, said) => {
  const blocks = Object.fromEntries(
    Array.from({ length: count }, (_none, at) => [`odd${at + 1}`, { type: 'odd' }]),
  )
  let last = 0
  const file = importBlueprint({ name: 'Odd', blocks }, () => `guid-${last++}`)
  const refused = compileToRun('blueprint', file.blocks, await loadBlocks())
  await expect(refused).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    message: `The blueprint cannot run: ${said}`,
    problems: Array.from({ length: count }, (_none, at) => expect.objectContaining({ block: `guid-${at}` })),
  })
})

test('a pin is named with its block', async () => {
  const search = {
    type: 'function_search',
    in: { flow: '@get.flow', storage: 'goods', limit: '=nope.value' },
  }
  const get = { type: 'on_startup_register_uri_get', in: { uri: 'goods' } }
  let last = 0
  const file = importBlueprint({ name: 'Goods', blocks: { get, search } }, () => `guid-${last++}`)
  const refused = compileToRun('blueprint', file.blocks, await loadBlocks())
  await expect(refused).rejects.toThrow(/^The blueprint cannot run: 1 problem\. search\.limit: .*nope/)
})
