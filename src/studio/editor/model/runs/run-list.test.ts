import { expect, test } from 'vitest'
import type { RunSummary } from '../../../../shared/api/blueprints/runs.ts'
import { isFailed, nextOffset, runsOf, withRun } from './run-list.ts'

const run = (guid: string, second: number, status: RunSummary['status'] = 'ended'): RunSummary => ({
  ...{ guid, blueprint: 'b', trigger: 't', trigger_type: 'http', label: 'GET tasks', status },
  ...{ started: `2026-01-01T00:00:0${second}.000Z`, us: 1, reply: null, error: null, steps: 1 },
  ...{ user: null, deployment: 1, replay_of: null, recorded_as: 'traced' },
})
const part = (records: readonly RunSummary[], total = records.length) => ({ records, total, next: undefined })
const listOf = (...pages: ReturnType<typeof part>[]) => ({ pages, pageParams: pages.map((_part, i) => i) })
const order = ({ pages }: Pick<Parameters<typeof withRun>[0], 'pages'>) =>
  runsOf(pages)
    .map(({ guid }) => guid)
    .join('')
const list = listOf(part([run('d', 4), run('c', 3)], 5), part([run('c', 3), run('b', 2)], 5))

test('what is in two parts is there once', () => {
  expect(order(list)).toBe('dcb')
})

test.each([
  ['nothing was read', [], undefined],
  ['there is more', [part([run('d', 4), run('c', 3)], 5)], 2],
  ['one came in meanwhile', list.pages, 3],
  ['all is read', [part([run('a', 1)], 1)], undefined],
  ['the rest is gone by now', [part([run('a', 1)], 5), part([], 5)], undefined],
])('where the next part begins: %s', (_what, parts, at) => {
  expect(nextOffset(parts)).toBe(at)
})

test('a new run comes first, one that is told late in its place, and what is older is still to be read', () => {
  expect(order(withRun(list, run('e', 5)))).toBe('edcb')
  expect(order(withRun(list, run('a', 1)))).toBe('dcba')
  expect(order(withRun(listOf(part([])), run('a', 1)))).toBe('a')
  expect(nextOffset(withRun(list, run('e', 5)).pages)).toBe(4)
})

test('a run that went on stays where it is', () => {
  const now = withRun(list, run('c', 3, 'failed'))
  expect([order(now), now.pages.length]).toEqual(['dcb', 2])
  expect(runsOf(now.pages)[1]?.status).toBe('failed')
})

test('the list does not grow without end, and what it let go can be read again', () => {
  let many: Parameters<typeof withRun>[0] = listOf(part([]))
  for (let i = 0; i < 405; i++) many = withRun(many, run(`run ${i}`, 5))
  const all = runsOf(many.pages)
  expect([all.length, all[0]?.guid, nextOffset(many.pages)]).toEqual([400, 'run 404', 400])
})

test.each([
  [run('a', 1), false],
  [run('a', 1, 'failed'), true],
  [{ ...run('a', 1), reply: { status: 399 } }, false],
  [{ ...run('a', 1), reply: { status: 404 } }, true],
])('%j went wrong: %s', (one, is) => {
  expect(isFailed(one)).toBe(is)
})
