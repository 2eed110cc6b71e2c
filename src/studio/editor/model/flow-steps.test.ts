import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { catalogueOf } from './block-description.ts'
import type { Flow } from './flow.ts'
import { insertBehind, moveStepDown, moveStepUp } from './flow-steps.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const step = (from: readonly string[], type = 'function_console_log'): BlockContent => ({
  ...emptyContent,
  type,
  in_pins: [
    {
      id: 'flow',
      from: from.map((end) => {
        const [block = '', pin = ''] = end.split('.')
        return { block, pin }
      }),
    },
  ],
})
const flow: Flow = new Map([
  ['on', { ...emptyContent, type: 'on_startup_register_uri_get' }],
  ['a', step(['on.flow'])],
  ['b', step(['a.flow'])],
  ['c', step(['b.flow'])],
])

/** Who comes before each step. */
const order = (of: Flow | undefined) =>
  Object.fromEntries(
    [...(of ?? [])].flatMap(([guid, { in_pins }]) =>
      in_pins.map(({ from }) => [guid, (from ?? []).map(({ block, pin }) => `${block}.${pin}`).join(' ')]),
    ),
  )

test('a step is put between two', () => {
  const added = new Map(flow).set('new', { ...emptyContent, type: 'function_console_log' })
  expect(order(insertBehind(added, catalogue, { block: 'a', pin: 'flow' }, 'new'))).toEqual({
    a: 'on.flow',
    new: 'a.flow',
    b: 'new.flow',
    c: 'b.flow',
  })
})

test('behind another way out nothing else moves, and what ends a flow lets nothing come behind it', () => {
  const added = new Map(flow).set('new', { ...emptyContent, type: 'function_return' })
  expect(order(insertBehind(added, catalogue, { block: 'a', pin: 'error' }, 'new'))).toMatchObject({
    new: 'a.error',
    b: 'a.flow',
  })
  expect(order(insertBehind(added, catalogue, { block: 'a', pin: 'flow' }, 'new'))).toMatchObject({
    new: 'a.flow',
    b: 'a.flow',
  })
})

test('steps change places, and moving down undoes moving up', () => {
  const up = moveStepUp(flow, 'b')
  expect(order(up)).toEqual({ b: 'on.flow', a: 'b.flow', c: 'a.flow' })
  expect(order(up && moveStepDown(up, 'b'))).toEqual(order(flow))
})

test.each([
  ['the first step above its trigger', 'a'],
  ['a trigger', 'on'],
  ['what is not there', 'gone'],
])('%s cannot move up', (_what, guid) => {
  expect(moveStepUp(flow, guid)).toBeUndefined()
})

test('a step with two ways to it does not move', () => {
  const two = new Map(flow).set('c', step(['b.flow', 'a.error']))
  expect(moveStepUp(two, 'c')).toBeUndefined()
  expect(moveStepDown(flow, 'c')).toBeUndefined()
})
