/** Everything that a node counts, read by a parser that refuses what the specification of the format does not allow. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { type ReadMetric, readExposition } from '../../../test/exposition-parser.ts'
import type { FinishedRequest } from '../server/finished-hook.ts'
import { httpMetrics } from './http-metrics.ts'
import { prometheusText } from './prometheus-text.ts'

const finished: FinishedRequest = {
  ...{ id: '', url: '/a', method: 'GET', route: '/a', endpoint: undefined, status: 200, milliseconds: 0 },
  ...{ ip: '', agent: undefined, identity: undefined, fromStudio: false },
}
const awkward = 'A "name" with \\ and\na second line, {braces}'

describe('a node', () => {
  let quoin: TestQuoin
  let metrics: ReadMetric[]
  beforeAll(async () => {
    quoin = await openTestQuoin()
    await quoin.install(awkward, {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'things/{guid}' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 1 } },
    })
    for (const path of ['/things/1', '/things/2', '/nothing', '/info', '/"\\']) await quoin.send('GET', path)
    const token = await quoin.tokenOf('admin')
    const { body } = await quoin.quoin.server.app.inject({
      url: '/metrics',
      headers: { authorization: `Bearer ${token}` },
    })
    metrics = readExposition(body)
  })
  afterAll(() => quoin.close())

  const samplesOf = (name: string) => metrics.find((one) => one.name === name)?.samples ?? []

  test('each metric has a name in the units and with the ending that its type asks for', () => {
    expect(metrics.length).toBeGreaterThan(10)
    for (const { name, type } of metrics) {
      expect(name).toMatch(/^(?:quoin|process|nodejs)_[a-z0-9_]+$/)
      expect({ name, isTotal: name.endsWith('_total') }).toEqual({ name, isTotal: type === 'counter' })
      expect(name).not.toMatch(/milliseconds|_ms\b|kilobytes|percent/)
    }
  })

  test('labels come back as they were, quotes and ends of lines too', () => {
    const names = samplesOf('quoin_runs_total').map(({ labels }) => labels.get('name'))
    expect(names).toContain(awkward)
  })

  test('requests are counted by template, in the histogram as well', () => {
    const of = (name: string) =>
      samplesOf(name.replace(/_count$/, ''))
        .filter((one) => one.name === name && one.labels.get('route') === '/api/v1/things/{guid}')
        .map(({ value }) => value)
    expect(of('quoin_http_requests_total')).toEqual([2])
    expect(of('quoin_http_request_duration_seconds_count')).toEqual([2])
  })
})

test('values that are no plain number are written as Prometheus reads them', () => {
  const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21, 1.5e-9, -0]
  const samples = values.map((value, at) => ({ labels: { at: String(at) }, value }))
  const text = prometheusText([{ name: 'odd', help: 'A \\ and\na line.', type: 'gauge', samples }])
  const [unusual] = readExposition(text)
  expect(unusual?.help).toBe(String.raw`A \\ and\na line.`)
  expect(unusual?.samples.map(({ value }) => value)).toEqual([...values.slice(0, -1), 0])
})

test('a duration on the bound of a bucket is in it, a longer one in the next', () => {
  const http = httpMetrics()
  for (const milliseconds of [1, 1.001, 30_000, 30_001]) http.finished({ ...finished, milliseconds })
  const histogram = readExposition(prometheusText(http.metrics()))[1]
  const upTo = (le: string) => histogram?.samples.find(({ labels }) => labels.get('le') === le)?.value
  expect([upTo('0.001'), upTo('0.0025'), upTo('30'), upTo('+Inf')]).toEqual([1, 2, 3, 4])
})

test('figures over time are without what the studio sends by itself, which metrics count', () => {
  const http = httpMetrics()
  for (const fromStudio of [true, false]) http.finished({ ...finished, fromStudio })
  http.finished({ ...finished, route: '/studio/*' })
  expect(http.totals.requests).toBe(1)
  const counted = readExposition(prometheusText(http.metrics()))[0]
  expect(counted?.samples.map(({ value }) => value)).toEqual([2, 1])
})

describe('the parser refuses', () => {
  const head = '# HELP a_total Counts.\n# TYPE a_total counter\n'
  test.each([
    ['no end of line', `${head}a_total 1`],
    ['a TYPE without HELP', '# TYPE a_total counter\na_total 1\n'],
    ['a second TYPE', `${head}${head}a_total 1\n`],
    ['a sample before its TYPE', `a_total 1\n${head}`],
    ['a series twice', `${head}a_total{x="1"} 1\na_total{x="1"} 2\n`],
    ['a quote in a label', `${head}a_total{x="a"b"} 1\n`],
    ['a value in other words', `${head}a_total Infinity\n`],
    ['a counter below 0', `${head}a_total -1\n`],
    ['a histogram without +Inf', '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n'],
    [
      'a histogram whose count is not its last bucket',
      '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 1\n',
    ],
  ])('%s', (_what, text) => {
    expect(() => readExposition(text)).toThrow()
  })
})
