import { expect, test } from 'vitest'
import type { RunSummary } from '../../api/runs.ts'
import { withRun } from './run-list.ts'

const run = (guid: string, second: number, status: RunSummary['status'] = 'ended'): RunSummary => ({
  ...{ guid, blueprint: 'b', trigger: 't', trigger_type: 'http', label: 'GET tasks', status },
  ...{ started: `2026-01-01T00:00:0${second}.000Z`, us: 1, reply: null, error: null, steps: 1 },
  ...{ user: null, deployment: 1, replay_of: null },
})
const list = [run('c', 3), run('b', 2), run('a', 1)]
const order = (runs: readonly RunSummary[]) => runs.map(({ guid }) => guid).join('')

test('a new run comes first, one that is told late in its place', () => {
  expect(order(withRun(list, run('d', 4)))).toBe('dcba')
  expect(order(withRun(list, run('x', 0)))).toBe('cbax')
  expect(order(withRun([], run('d', 4)))).toBe('d')
})

test('a run that went on stays where it is', () => {
  const now = withRun(list, run('b', 2, 'failed'))
  expect([order(now), now[1]?.status]).toEqual(['cba', 'failed'])
})

test('the list does not grow without end', () => {
  let many: readonly RunSummary[] = []
  for (let i = 0; i < 105; i++) many = withRun(many, run(`run ${i}`, 5))
  expect([many.length, many[0]?.guid]).toEqual([100, 'run 104'])
})
