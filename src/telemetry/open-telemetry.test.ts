import { glob, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Collector, openCollector } from '../../test/otlp-collector.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import { type OpenTelemetry, openTelemetry, type TelemetryOptions } from './open-telemetry.ts'

let collector: Collector
beforeAll(async () => {
  collector = await openCollector()
})
afterAll(() => collector?.close())

let now = 1_000_000
let drawn = 0
const failures: string[] = []
const open = (share: number, more: Partial<TelemetryOptions> = {}): OpenTelemetry =>
  openTelemetry({
    ...{
      endpoint: collector.url,
      headers: {},
      share,
      clock: () => now,
      draw: () => drawn,
      random: seededRandom(1),
    },
    ...{ metricsEvery: undefined, sendsLogs: false, ...more },
    service: { name: 'quoin', version: '1.2.3', node: 'one' },
    failed: (message) => void failures.push(message),
  })
const place = (flags: string) => `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`
const over = { name: 'x', attributes: {}, failed: false }

test.each([
  ['a request without a header, below the share', 0.1, undefined, 0.05, true],
  ['a request without a header, above the share', 0.1, undefined, 0.1, false],
  ['a request whose caller has decided for it', 0, place('01'), 0.5, true],
  ['a request whose caller has decided against it', 1, place('00'), 0, false],
  ['a header that is none', 0, 'x', 0.5, false],
  ['two headers', 0, [place('01'), place('01')], 0.5, false],
])('%s', async (_, share, header, draw, isTraced) => {
  drawn = draw
  const telemetry = open(share)
  expect(telemetry.request(header) !== undefined).toBe(isTraced)
  await telemetry.close()
})

test.each([
  ['every request', 1, 20_000, 20_000],
  ['one in a hundred, with one number drawn for all before it', 0.01, 130, 270],
  ['none', 0, 0, 0],
])('%s is sampled', async (_, share, least, most) => {
  const random = seededRandom(7)
  const bytes = new Uint8Array(4)
  let draws = 0
  let later = 0
  const telemetry = openTelemetry({
    ...{ endpoint: collector.url, headers: {}, share, failed: () => undefined, random },
    ...{ metricsEvery: undefined, sendsLogs: false },
    service: { name: 'quoin', version: '1.2.3', node: 'one' },
    // Within the limit of a second.
    clock: () => (later += 1_000),
    draw() {
      draws += 1
      random(bytes)
      return new DataView(bytes.buffer).getUint32(0) / 2 ** 32
    },
  })
  const sampled = Array.from({ length: 20_000 }, () => telemetry.request(undefined)).filter((span) => span)
  expect(sampled.length).toBeGreaterThanOrEqual(least)
  expect(sampled.length).toBeLessThanOrEqual(most)
  expect(draws).toBe(sampled.length + 1)
  await telemetry.close()
})

test('strangers cannot have more than 100 requests a second traced', async () => {
  const telemetry = open(0)
  const traced = () =>
    Array.from({ length: 300 }, () => telemetry.request(place('01'))).filter((span) => span)
  expect(traced()).toHaveLength(100)
  now += 1_000
  expect(traced()).toHaveLength(100)
  await telemetry.close()
})

test('a run belongs to what caused it, also beyond the limit, and its pieces are bounded', async () => {
  drawn = 0.5
  const telemetry = open(0)
  expect([telemetry.run(undefined), telemetry.run(place('00'))]).toEqual([undefined, undefined])
  const run = telemetry.run(place('01'))
  for (let piece = 0; piece < 250; piece++)
    run?.add({ ...over, began: 1_700_000_000_000, ended: 1_700_000_000_001.5 })
  run?.end({ name: 'run', attributes: { a: 1 }, failed: true })
  await telemetry.close()
  const [end, ...pieces] = [...collector.spans].reverse()
  expect(end).toMatchObject({
    name: 'run',
    parentSpanId: '00f067aa0ba902b7',
    status: 2,
    attributes: { a: 1, 'quoin.left_out': 50 },
  })
  expect(pieces).toHaveLength(200)
  expect(pieces[0]).toMatchObject({
    parentSpanId: end?.spanId,
    began: 1_700_000_000_000_000_000n,
    ended: 1_700_000_000_001_500_000n,
  })
  expect(collector.faults).toEqual([])
})

test.each([
  ['what comes later', 503, ['late']],
  ['what the collector refuses', 400, []],
])('%s is sent again: behind %i %j', async (_, status, names) => {
  drawn = 0
  collector.spans.length = 0
  const before = collector.refused
  collector.status = status
  const telemetry = open(1)
  telemetry.request(undefined)?.end({ ...over, name: 'late' })
  await expect.poll(() => collector.refused, { timeout: 10_000 }).toBe(before + 1)
  collector.status = 200
  await telemetry.close()
  expect(collector.spans.map(({ name }) => name)).toEqual(names)
})

test('a collector that does not answer holds no more than 2,048 pieces, and is reported once', async () => {
  drawn = 0
  failures.length = 0
  collector.spans.length = 0
  collector.status = 503
  const telemetry = open(1)
  const run = () => telemetry.run(place('01'))
  for (let at = 0; at < 3_000; at++) run()?.end({ ...over, name: String(at) })
  await expect.poll(() => failures.length, { timeout: 20_000 }).toBe(1)
  collector.status = 200
  await telemetry.close()
  expect(failures[0]).toContain('Traces could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT 3 times in a row')
  expect([collector.spans.length, collector.spans.at(-1)?.name]).toEqual([2_048, '2047'])
})

test('metrics are sent at the end too, histograms with the buckets of their own and what is traced', async () => {
  collector.metrics.length = 0
  const telemetry = open(0, { metricsEvery: 3_600_000 })
  const labels = { route: '/a"\\b' }
  const exemplar = { value: 0.2, at: 1_700_000_000_000, place: place('01') }
  const histogram = (others: number) =>
    (['0.1', '1', '+Inf'] as const).map((le, at) => ({
      ...{ labels: { route: String(others), le }, suffix: '_bucket', value: [1, 3, 4][at] ?? 0 },
    }))
  telemetry.measure(async () => [
    { name: 'a_total', help: 'A.', type: 'counter', samples: [{ labels, value: 3 }] },
    { name: 'b_bytes', help: 'B.', type: 'gauge', samples: [{ value: 1.5 }, { value: Number.NaN }] },
    {
      ...{ name: 'c_seconds', help: 'C.', type: 'histogram' },
      samples: Array.from({ length: 1_001 }, (_, at) => [
        ...histogram(at),
        { labels: { route: String(at) }, value: 2.5, suffix: '_sum' },
        { labels: { route: String(at) }, value: 4, suffix: '_count', ...(at === 0 && { exemplar }) },
      ]).flat(),
    },
  ])
  await telemetry.close()
  const named = (name: string) => collector.metrics.filter((metric) => metric.name === name)
  expect(named('a_total')).toEqual([
    {
      ...{ name: 'a_total', kind: 'sum', unit: '1' },
      points: [{ attributes: labels, value: 3, buckets: [], exemplars: [] }],
    },
  ])
  expect(named('b_bytes').map(({ kind, unit, points }) => [kind, unit, points.length])).toEqual([
    ['gauge', 'By', 1],
  ])
  // In parts of 500 points.
  expect(named('c_seconds').map(({ points }) => points.length)).toEqual([500, 500, 1])
  expect(named('c_seconds')[0]?.points.slice(0, 2)).toEqual([
    {
      ...{ attributes: { route: '0' }, value: 4, buckets: [1, 2, 1] },
      exemplars: [{ value: 0.2, traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }],
    },
    { attributes: { route: '1' }, value: 4, buckets: [1, 2, 1], exemplars: [] },
  ])
  expect(collector.faults).toEqual([])
})

test.each([
  ['none', { metricsEvery: undefined, sendsLogs: false }, 0],
  ['all', { metricsEvery: 3_600_000, sendsLogs: true }, 1],
])('of metrics and logs %s are sent with %j', async (_, more, count) => {
  collector.metrics.length = 0
  collector.logs.length = 0
  const telemetry = open(0, more)
  telemetry.log({
    level: 'warn',
    message: 'Late.',
    at: 1_700_000_000_000,
    place: place('01'),
    attributes: {},
  })
  telemetry.measure(async () => [{ name: 'a', help: 'A.', type: 'gauge', samples: [{ value: 1 }] }])
  await telemetry.close()
  expect([collector.metrics.length, collector.logs.length]).toEqual([count, count])
  if (count > 0)
    expect(collector.logs[0]).toMatchObject({
      ...{ severity: 13, body: 'Late.', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' },
    })
  expect(collector.faults).toEqual([])
})

const span = {
  ...{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), name: 'x', kind: 2, attributes: [] },
  ...{ startTimeUnixNano: '1764500000000000000', endTimeUnixNano: '1764500000000000001' },
}
test.each([
  ['a span as the protocol has it', span, undefined],
  [
    'a misspelled field',
    { ...span, startTimeUnixNanos: '1' },
    'startTimeUnixNanos is not in the definitions',
  ],
  ['a field of another message', { ...span, asDouble: 1 }, 'asDouble is not in the definitions'],
  [
    'a name in the form of the definitions',
    { ...span, trace_state: '' },
    'trace_state is not in the definitions',
  ],
  [
    'a value of an attribute that has no such kind',
    { ...span, attributes: [{ key: 'a', value: { numberValue: 1 } }] },
    'numberValue is not in the definitions',
  ],
  ['a list in place of a message', { ...span, status: [] }, 'is no list'],
  ['a text in place of a number', { ...span, droppedAttributesCount: '1' }, 'was read as 1'],
])('the receiver of these tests reads by the definitions of the protocol: %s', async (_, sent, fault) => {
  const receiver = await openCollector()
  const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans: [sent] }] }] }
  await fetch(`${receiver.url}/v1/traces`, { method: 'POST', body: JSON.stringify(body) })
  await receiver.close()
  expect(receiver.faults).toEqual(fault === undefined ? [] : [expect.stringContaining(fault)])
  expect(receiver.spans).toHaveLength(fault === undefined ? 1 : 0)
})

test('its code is loaded where there is an endpoint, and by nothing else', async () => {
  const source = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')
  const loads = /(?:from|import\() ?'[./]+telemetry\/(?:open-telemetry|outbox|otlp)\.ts'/g
  const found: string[] = []
  for await (const path of glob('**/*.ts', { cwd: new URL('..', import.meta.url) }))
    for (const [text] of (await source(path)).matchAll(loads)) found.push(`${path}: ${text}`)
  const outside = found.filter((one) => !one.startsWith('telemetry/'))
  expect(outside).toEqual(["quoin/node-telemetry.ts: import('../telemetry/open-telemetry.ts'"])
})
