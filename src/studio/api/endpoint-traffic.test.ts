import { describe, expect, it } from 'vitest'
import { endpointKey, reading, trafficRows } from './endpoint-traffic.ts'
import { parseMetrics } from './metrics.ts'

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
