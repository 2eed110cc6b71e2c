import { describe, expect, it } from 'vitest'
import { endpointKey, reading } from './endpoint-traffic.ts'
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
