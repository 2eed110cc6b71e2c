import { expect, test } from 'vitest'
import { blockMark } from '../../../expressions/language/rename-names.ts'
import type { LastStep } from '../../../shared/api/blueprints/last-values.ts'
import type { RunSummary } from '../../../shared/api/blueprints/runs.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { lastByBlock, sameLast } from './last-values.ts'

const content: BlockContent = {
  ...{ type: 'reply', title: '', description: '', position: { x: 0, y: 0 }, scopes: [] },
  ...{ in_pins: [{ id: 'value', value: 1 }], custom_out_pins: [], fields: {} },
}
const run: RunSummary = {
  ...{ guid: 'run', blueprint: '', trigger: '', trigger_type: 'http', label: 'GET a', status: 'ended' },
  ...{ started: '2026-01-01T00:00:00Z', us: 1, reply: { status: 200 }, error: null, steps: 1, user: null },
  ...{ deployment: 1, replay_of: null, recorded_as: 'traced' },
}
const step: LastStep = {
  ...{ block: 'a', run: 'run', mark: blockMark(content), at: 0, in: { value: 1 }, out: {}, error: null },
}
const last = (one: LastStep, drawn: BlockContent = content) =>
  lastByBlock({ runs: [run], steps: [one] }, new Map([['a', drawn]])).get('a')

test.each<[string, LastStep, BlockContent, boolean | undefined]>([
  ['as it ran', step, content, false],
  ['moved and named since', step, { ...content, title: 'A', position: { x: 1, y: 1 } }, false],
  ['another value since', step, { ...content, in_pins: [{ id: 'value', value: 2 }] }, true],
  ['a run of which nothing is known', { ...step, mark: '' }, content, false],
  ['a run that is not in the answer', { ...step, run: 'other' }, content, undefined],
  ['a block that is not drawn', { ...step, block: 'b' }, content, undefined],
])('%s', (_, one, drawn, isChanged) => expect(last(one, drawn)?.isChanged).toBe(isChanged))

test('a block is drawn again when its values or its change are others', () => {
  expect(sameLast(last(step), last(step))).toBe(true)
  expect(sameLast(undefined, undefined)).toBe(true)
  expect(sameLast(last(step), undefined)).toBe(false)
  expect(sameLast(last(step), last({ ...step }))).toBe(false)
  expect(sameLast(last(step), last(step, { ...content, fields: { a: 1 } }))).toBe(false)
})
