/** Each phase of the compiler can be left off behind every block, so that no blueprint is too large for one turn. */
import { expect, test } from 'vitest'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Steps } from '../../shared/cooperative.ts'
import { importBlueprint } from '../blueprints/blueprint-file.ts'
import { graphSteps } from './blueprint-graph.ts'
import { compileBlueprint } from './compile-blueprint.ts'
import { placeProblems } from './compile-part.ts'
import { foldConstants } from './constants/fold-constants.ts'
import { wiringOf } from './graph-wiring.ts'
import { neededIndexes } from './needed-indexes.ts'

const SIZE = 500

function stepsOf<Result>(steps: Steps<Result>): { readonly count: number; readonly result: Result } {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next()
    if (done) return { count, result: value }
  }
}

test('a step for each block, in every phase', async () => {
  const values = Array.from({ length: SIZE }, (_none, n) => [
    `v${n}`,
    { type: 'value_default', in: { value: n } },
  ])
  let last = 0
  const { blocks } = importBlueprint(
    { name: 'Large', blocks: Object.fromEntries(values) },
    () => `b${last++}`,
  )
  const { count, result: graph } = stepsOf(graphSteps(blocks, await loadBlocks()))
  expect(count).toBeGreaterThanOrEqual(SIZE)
  expect(graph.problems).toEqual([])
  expect(stepsOf(placeProblems(graph)).count).toBeGreaterThanOrEqual(SIZE)
  const { count: wired, result: wiring } = stepsOf(wiringOf(graph))
  expect(wired).toBeGreaterThanOrEqual(SIZE)
  const constants = stepsOf(foldConstants(graph, wiring))
  expect([constants.count >= SIZE, constants.result.size]).toEqual([true, SIZE])
  expect(
    stepsOf(neededIndexes(graph, { ...wiring, constants: constants.result })).count,
  ).toBeGreaterThanOrEqual(SIZE)
})

test('a flow of 5,000 blocks in a row needs no deep stack', async () => {
  const steps = Array.from({ length: 5_000 }, (_none, n) => [
    `log${n}`,
    {
      type: 'function_console_log',
      in: { flow: n === 0 ? '@get.flow' : `@log${n - 1}.flow`, value: '=params.n ?? 1' },
    },
  ])
  const get = { type: 'on_startup_register_uri_get', in: { uri: 'long' } }
  let last = 0
  const file = { name: 'Long', blocks: { get, ...Object.fromEntries(steps) } }
  const { blocks } = importBlueprint(file, () => `b${last++}`)
  const compiled = compileBlueprint('guid', blocks, await loadBlocks())
  expect(compiled.problems).toEqual([])
  expect(compiled.blueprint?.endpoints[0]?.flow.first).toBeTypeOf('function')
})
