import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import type { Step } from '../../../../shared/api/blueprints/runs.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { runView } from './run-view.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

const block = (type: string, wires: Readonly<Record<string, string>> = {}): BlockContent => ({
  ...emptyContent,
  type,
  in_pins: Object.entries(wires).map(([id, end]) => {
    const [from = '', pin = ''] = end.split('.')
    return { id, from: [{ block: from, pin }] }
  }),
})
/** A branch of which one side is taken; the value of the reply and the storage are of blocks that are pulled. */
const flow: Flow = new Map([
  ['on', block('on_startup_register_uri_get')],
  ['check', block('branch', { flow: 'on.flow', condition: 'filled.condition' })],
  ['filled', block('condition_not_empty_value', { value: 'text.value' })],
  ['text', block('value_default')],
  ['yes', block('function_search', { flow: 'check.true', storage: 'tasks.storage', query: 'query.query' })],
  ['tasks', block('storage')],
  ['query', block('query_and', { queries: 'term.query' })],
  ['term', block('query_bool_term_fields')],
  ['no', block('function_console_log', { flow: 'check.false', value: 'text.value' })],
])
const step = (name: string, more: Partial<Step> = {}): Step => ({
  ...{ seq: 1, block: name, type: '', frame: 0, at_us: 0, us: 10, in: {}, out: {} },
  ...{ next: null, error: null, note: null, kind: 'flow' },
  ...more,
})
const steps = [
  step('on', { next: 'flow' }),
  step('text', { out: { value: 'a' } }),
  step('filled', { in: { value: 'a' } }),
  step('check', { in: { condition: true }, next: 'true' }),
  step('yes', { in: { storage: 'tasks', query: {} } }),
]

const states = (at: number | undefined, run = { steps, status: 'ended' as const }) =>
  Object.fromEntries([...runView(run, at, flow, catalogue).blocks].map(([guid, { state }]) => [guid, state]))

test('blocks that ran, those that did not, and those whose value is fixed', () => {
  expect(states(undefined)).toEqual({
    ...{ on: 'ran', check: 'ran', filled: 'ran', text: 'ran', yes: 'ran' },
    ...{ tasks: 'fixed', query: 'fixed', term: 'fixed', no: 'idle' },
  })
})

test('at a step nothing behind it has happened yet', () => {
  expect(states(1)).toMatchObject({ on: 'ran', text: 'ran', filled: 'idle', check: 'idle', tasks: 'idle' })
  const { blocks } = runView({ steps, status: 'ended' }, 1, flow, catalogue)
  expect([blocks.get('text')?.current, blocks.get('on')?.current]).toEqual([true, false])
})

test('wires that carried something', () => {
  const { wires } = runView({ steps, status: 'ended' }, undefined, flow, catalogue)
  expect([...wires.keys()].toSorted()).toEqual([
    'check|true>yes|flow',
    'filled|condition>check|condition',
    'on|flow>check|flow',
    'query|query>yes|query',
    'tasks|storage>yes|storage',
    'term|query>query|queries',
    'text|value>filled|value',
  ])
})

test('a block that ran often has its order, its count and all its time', () => {
  const often = [...steps, step('filled', { us: 5 }), step('filled', { us: 7 })]
  const { blocks } = runView({ steps: often, status: 'ended' }, undefined, flow, catalogue)
  expect(blocks.get('filled')).toMatchObject({ order: 3, times: 3, us: 22, step: { us: 7 } })
})

test.each([
  [step('yes', { error: 'storage is needed' }), 'failed' as const, 'failed', 'storage is needed'],
  [step('yes'), 'paused' as const, 'paused', ''],
  [step('yes', { note: 'Not paused.' }), 'ended' as const, 'ran', 'Not paused.'],
])('how the last step ended: %#', (last, status, state, message) => {
  const { blocks } = runView({ steps: [...steps.slice(0, -1), last], status }, undefined, flow, catalogue)
  expect(blocks.get('yes')).toMatchObject({ state, message })
})
