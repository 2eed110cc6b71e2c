import { expect, test } from 'vitest'
import type { Metric } from '../http/metrics/prometheus-text.ts'
import { mergeMetrics } from './merge-metrics.ts'

const metric = (name: string, samples: Metric['samples']): Metric => ({
  name,
  help: 'h',
  type: 'counter',
  samples,
})

test('without any metrics the result is empty', () => {
  expect(mergeMetrics([])).toEqual([])
  expect(mergeMetrics([[], []])).toEqual([])
})

test('values with the same labels are added, in any order of the labels; others stay apart', () => {
  const one = [
    metric('requests', [
      { labels: { method: 'GET', route: '/a' }, value: 2 },
      { labels: { method: 'GET', route: '/a' }, value: 5, suffix: '_sum' },
    ]),
  ]
  const other = [
    metric('requests', [
      { labels: { route: '/a', method: 'GET' }, value: 3 },
      { labels: { method: 'GET', route: '/b' }, value: 1 },
    ]),
    metric('only_there', [{ value: 7 }]),
  ]
  expect(mergeMetrics([one, other])).toEqual([
    metric('requests', [
      { labels: { method: 'GET', route: '/a' }, value: 5 },
      { labels: { method: 'GET', route: '/a' }, value: 5, suffix: '_sum' },
      { labels: { method: 'GET', route: '/b' }, value: 1 },
    ]),
    metric('only_there', [{ value: 7 }]),
  ])
})

test.each([
  ['quoin_info', 1, 1, 1],
  ['process_start_time_seconds', 20, 10, 10],
  ['nodejs_eventloop_lag_max_seconds', 0.1, 0.3, 0.3],
  ['process_resident_memory_bytes', 100, 50, 150],
])('%s of %d and %d is %d', (name, one, other, whole) => {
  const merged = mergeMetrics([[metric(name, [{ value: one }])], [metric(name, [{ value: other }])]])
  expect(merged).toEqual([metric(name, [{ value: whole }])])
})
