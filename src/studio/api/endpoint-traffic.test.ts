import { describe, expect, it } from 'vitest'
import { endpointKey, parseMetrics, quantile, reading, trafficRows } from './endpoint-traffic.ts'

const metrics = (good: number, bad: number) =>
  parseMetrics(
    [
      `quoin_http_requests_total{method="GET",route="/api/v1/tasks",status="2xx"} ${good}`,
      `quoin_http_requests_total{method="GET",route="/api/v1/tasks",status="5xx"} ${bad}`,
      `quoin_http_request_duration_seconds_bucket{method="GET",route="/api/v1/tasks",le="0.001"} ${good}`,
      `quoin_http_request_duration_seconds_bucket{method="GET",route="/api/v1/tasks",le="+Inf"} ${good + bad}`,
    ].join('\n'),
  )

describe('an endpoint', () => {
  it.each([
    ['get', '/api/v1/tasks/:guid', 'GET tasks/{}'],
    ['GET', 'tasks/{guid}', 'GET tasks/{}'],
    ['POST', '/tasks/', 'POST tasks'],
  ])('%s %s is %s', (method, path, key) => {
    expect(endpointKey(method, path)).toBe(key)
  })
})

describe('traffic', () => {
  it('counts replies and errors, and how long they took', () => {
    const first = reading(metrics(90, 10), 1_000).endpoints.get('GET tasks')
    expect(first).toMatchObject({ requests: 100, errors: 10, rate: undefined, p95: 1 })
    expect(first?.p50).toBeCloseTo(0.5556, 3)
  })

  it('knows the rate from two readings, and none when the node was restarted', () => {
    const first = reading(metrics(90, 10), 1_000)
    expect(reading(metrics(140, 10), 6_000, first).endpoints.get('GET tasks')?.rate).toBe(10)
    expect(reading(metrics(5, 0), 6_000, first).endpoints.get('GET tasks')?.rate).toBeUndefined()
  })
})

describe('the list of endpoints', () => {
  const none = { requests: 0, errors: 0, p50: undefined, p95: undefined, rate: undefined }
  const endpoints = new Map([
    ['shop', ['slow', 'busy'].map((uri) => ({ method: 'GET', uri, block: uri }))],
    ['drafts', [{ method: 'GET', uri: 'never', block: 'never' }]],
  ])
  const traffic = new Map([
    ['GET slow', { ...none, requests: 2, p95: 900 }],
    ['GET busy', { ...none, requests: 50, p95: 3 }],
    ['GET never', { ...none, requests: 90 }],
  ])
  it.each([
    ['the busiest first', undefined, ['busy', 'slow']],
    ['the slowest first', { field: 'p95', order: 'desc' }, ['slow', 'busy']],
    ['the fastest first', { field: 'p95', order: 'asc' }, ['busy', 'slow']],
    ['by address', { field: 'endpoint', order: 'asc' }, ['busy', 'slow']],
    ['by address, backwards', { field: 'endpoint', order: 'desc' }, ['slow', 'busy']],
  ] as const)('of deployed blueprints is sorted: %s', (_what, sort, expected) => {
    const rows = trafficRows(endpoints, new Set(['shop']), traffic, sort)
    expect(rows.map(({ uri }) => uri)).toEqual(expected)
  })
})

describe('metrics', () => {
  it('are read with their labels, and what is no sample is left out', () => {
    const text = [
      '# HELP a What it is.',
      'a{method="GET",route="/x \\"y\\" {z}"} 5',
      'b 1.5e-3',
      'c{le="+Inf"} +Inf',
      'broken line here 4',
      '',
    ].join('\n')
    expect(parseMetrics(text)).toEqual([
      { name: 'a', labels: { method: 'GET', route: '/x "y" {z}' }, value: 5 },
      { name: 'b', labels: {}, value: 0.0015 },
      { name: 'c', labels: { le: '+Inf' }, value: Number.POSITIVE_INFINITY },
    ])
  })
})

describe('a quantile', () => {
  const buckets = [
    { le: 1, count: 50 },
    { le: 2, count: 90 },
    { le: Number.POSITIVE_INFINITY, count: 100 },
  ]
  it.each([
    [0.25, 0.5],
    [0.5, 1],
    [0.7, 1.5],
    [0.99, 2],
  ])('%f', (share, value) => {
    expect(quantile(share, buckets)).toBeCloseTo(value)
  })

  it('is unknown without samples', () => {
    expect(quantile(0.5, [])).toBeUndefined()
    expect(quantile(0.5, [{ le: 1, count: 0 }])).toBeUndefined()
  })
})
