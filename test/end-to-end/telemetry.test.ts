/** Traces at a receiver of OTLP: requests with their runs and blocks, over the queue and waits, and who decides what is traced. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLocalServer } from '../local-server.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { type CollectedSpan, type Collector, openCollector } from '../otlp-collector.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let traces = 0
/** A header of a caller, with a trace of its own. */
function caller(flags = '01') {
  traces += 1
  const traceId = `4bf92f3577b34da6a3ce929d${String(traces).padStart(8, '0')}`
  return { traceId, headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}` } }
}

let collector: Collector
let mails: MailServer
let fixture: TestQuoin
beforeAll(async () => {
  collector = await openCollector()
  mails = await openMailServer()
  fixture = await openTestQuoin({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b' },
    ...{ OTEL_TRACES_SAMPLER_ARG: '0', OTEL_SERVICE_NAME: 'shop', QUOIN_RATE_LIMIT: '0' },
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    ...{ QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`, QUOIN_MAIL_FROM: 'shop@example.org' },
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
  })
  const example = new URL(
    '../../src/blocks/background/function_custom_execute_from_queue.example.json',
    import.meta.url,
  )
  const { blueprint } = JSON.parse(await readFile(example, 'utf8'))
  await fixture.install('Receipts', objectOf(blueprint.blocks))
  await fixture.install('Waits', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'waits' }, scopes: ['*public'] },
    wait: { type: 'wait', in: { flow: '@ask.flow', for: '1s' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@wait.flow', storage: 'waited', set: '={ a: 1 }' },
    },
  })
  await fixture.install('Broken', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'broken' }, scopes: ['*public'] },
    fail: { type: 'fail', in: { flow: '@ask.flow', status: 502, message: 'No answer.' } },
  })
})
afterAll(async () => {
  await fixture?.close()
  await mails?.close()
  await collector?.close()
})

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId)
/** All that came of traces, as text. The log may name whom a mail was for. */
const traced = () => collector.texts.filter((text) => text.startsWith('{"resourceSpans')).join('')
/** A node sends every second. */
async function arrived(traceId: string, name: string): Promise<CollectedSpan> {
  const find = () => spansOf(traceId).find((span) => span.name === name)
  await expect.poll(find, { timeout: 25_000, interval: 100 }).toBeDefined()
  const found = find()
  if (!found) throw new Error(`${name} went away.`)
  return found
}

const order = (headers: Record<string, string>) =>
  fixture.send('POST', '/orders', { headers, body: { item: 'Tea', total: 12_345_678 } })

test('a request, its run and its blocks, and the job that it causes with its own run are one trace', async () => {
  // The first run of a flow has it compiled with its blocks.
  await order(caller().headers)
  let traceId = ''
  await expect
    .poll(
      async () => {
        const next = caller()
        expect((await order(next.headers)).status).toBe(202)
        traceId = next.traceId
        await arrived(traceId, 'POST /api/v1/orders')
        return spansOf(traceId).map(({ name }) => name)
      },
      { timeout: 25_000 },
    )
    .toContain('httpconnection_set_json')
  const request = await arrived(traceId, 'POST /api/v1/orders')
  const run = await arrived(traceId, 'run POST orders')
  const job = await arrived(traceId, 'job receipts')
  const jobRun = await arrived(traceId, 'run write_receipt')
  expect([request.parentSpanId, request.kind]).toEqual(['00f067aa0ba902b7', 2])
  expect(request.attributes).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': '/api/v1/orders', 'http.response.status_code': 202 },
    'quoin.request': traceId,
  })
  expect(run.parentSpanId).toBe(request.spanId)
  expect(job.parentSpanId).toBe(run.spanId)
  expect(job.attributes).toMatchObject({
    ...{ 'messaging.destination.name': 'receipts', 'quoin.job.kind': 'function', 'quoin.attempt': 1 },
  })
  expect(jobRun.parentSpanId).toBe(job.spanId)
  expect(jobRun.attributes).toMatchObject({ 'quoin.job': job.attributes['quoin.job'] })
  const blocks = spansOf(traceId).filter(({ parentSpanId }) => parentSpanId === run.spanId)
  expect(blocks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'function_create_document_from_mutations',
      'function_custom_execute_from_queue',
      'httpconnection_set_json',
    ]),
  )
  // What they ask of storages, with the commit of the reply.
  expect(blocks.map(({ name }) => name)).toEqual(expect.arrayContaining(['create orders', 'commit']))
  expect(blocks.find(({ name }) => name === 'create orders')?.attributes).toEqual({
    ...{ 'db.system.name': 'quoin', 'db.operation.name': 'create', 'db.collection.name': 'orders' },
  })
  for (const block of blocks.filter(({ name }) => !name.startsWith('job ')))
    expect([block.began >= run.began, block.ended <= run.ended]).toEqual([true, true])
  expect(collector.faults).toEqual([])
  expect(collector.headers[0]?.['x-key']).toBe('a b')
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'shop' })
  // Values stay here.
  expect(/Tea|12345678/.test(collector.texts.join(''))).toBe(false)
})

test('a run that has waited goes on in the trace of its request', async () => {
  const { traceId, headers } = caller()
  await fixture.send('POST', '/waits', { headers, body: {} })
  await arrived(traceId, 'run POST waits')
  fixture.advance(5_000)
  await expect.poll(() => fixture.documents('waited'), { timeout: 25_000 }).toHaveLength(1)
  await expect
    .poll(() => spansOf(traceId).filter(({ name }) => name === 'run POST waits').length, { timeout: 25_000 })
    .toBe(2)
})

test('a call of another server is a piece of its run and brings the place along; without a trace it brings none', async () => {
  const sent: IncomingMessage['headers'][] = []
  const other = await startLocalServer((request, response) => {
    sent.push(request.headers)
    response.writeHead(request.url === '/own' ? 404 : 200).end()
  })
  await fixture.install('Calls', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'calls' }, scopes: ['*public'] },
    call: { type: 'http_request', in: { flow: '@ask.flow', url: `${other.url}/there?key=hidden` } },
    own: {
      type: 'http_request',
      in: { flow: '@call.flow', url: `${other.url}/own`, headers: '={ traceparent: "mine" }' },
    },
    answer: { type: 'httpconnection_set_json', in: { flow: '@own.flow', value: 'called' } },
  })
  try {
    const { traceId, headers } = caller()
    for (const one of [headers, {}, caller('00').headers])
      expect((await fixture.send('GET', '/calls', { headers: one })).status).toBe(200)
    const run = await arrived(traceId, 'run GET calls')
    const calls = spansOf(traceId).filter(({ kind }) => kind === 3)
    expect(
      calls.map(({ name, parentSpanId, status, attributes }) => [name, parentSpanId, status, attributes]),
    ).toEqual(
      [
        [200, 0],
        [404, 2],
      ].map(([code, status]) => [
        'GET 127.0.0.1',
        run.spanId,
        status,
        {
          ...{ 'http.request.method': 'GET', 'server.address': '127.0.0.1' },
          'http.response.status_code': code,
        },
      ]),
    )
    expect(sent.map(({ traceparent }) => traceparent)).toEqual([
      `00-${traceId}-${calls[0]?.spanId}-01`,
      'mine',
      undefined,
      'mine',
      undefined,
      'mine',
    ])
    expect(/hidden|there/.test(traced())).toBe(false)
  } finally {
    await other.close()
  }
})

test('a mail is a piece of its job, without what is in it', async () => {
  await fixture.install('Mails', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*public'] },
    send: {
      type: 'send_mail',
      in: { flow: '@ask.flow', to: 'secretary@example.org', subject: 'Confidential', text: 'Hush.' },
    },
    answer: { type: 'httpconnection_set_json', in: { flow: '@send.flow', value: 'sent' } },
  })
  const send = async (code: number) => {
    const { traceId, headers } = caller()
    mails.answer(code)
    await fixture.send('POST', '/mails', { headers, body: {} })
    const mail = await arrived(traceId, 'mail 127.0.0.1')
    const job = await arrived(traceId, 'job _mail')
    const run = await arrived(traceId, 'run POST mails')
    expect([mail.parentSpanId, mail.kind, job.parentSpanId]).toEqual([job.spanId, 3, run.spanId])
    return [mail.status, job.status]
  }
  expect(await send(550)).toEqual([2, 2])
  expect(await send(250)).toEqual([0, 0])
  expect(mails.taken).toHaveLength(1)
  expect(/secretary|Confidential|Hush/.test(traced())).toBe(false)
})

test('a page is traced with its run', async () => {
  await fixture.install('Pages', {
    ask: { type: 'state_page', in: { url: 'hello', title: 'Hello' }, scopes: ['*public'] },
    title: { type: 'state_h1', in: { text: 'Hello' } },
    show: { type: 'state_render_page', in: { flow: '@ask.flow', state: '@title.state' } },
  })
  const { traceId, headers } = caller()
  const reply = await fixture.quoin.server.app.inject({ url: '/hello', headers })
  expect(reply.statusCode).toBe(200)
  const request = await arrived(traceId, 'GET /hello')
  expect((await arrived(traceId, 'run /hello')).parentSpanId).toBe(request.spanId)
})

test('an entry of the log has the trace of its run, and the histogram of requests an exemplar', async () => {
  await fixture.install('Logs', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'logs' }, scopes: ['*public'] },
    log: { type: 'function_console_log', in: { flow: '@ask.flow', value: 'Looked at.' } },
    answer: { type: 'httpconnection_set_json', in: { flow: '@log.flow', value: 'logged' } },
  })
  const { traceId, headers } = caller()
  for (const one of [headers, {}])
    expect((await fixture.send('GET', '/logs', { headers: one })).status).toBe(200)
  const logged = () => collector.logs.filter(({ body }) => body === 'Looked at.')
  await expect.poll(() => logged().length, { timeout: 25_000 }).toBe(2)
  expect(logged().map((entry) => entry.traceId)).toEqual([traceId, ''])
  expect(logged()[0]?.attributes).toMatchObject({ 'quoin.run': expect.any(String) })
  const request = await arrived(traceId, 'GET /api/v1/logs')
  const points = () =>
    collector.metrics
      .filter(({ name }) => name === 'quoin_http_request_duration_seconds')
      .flatMap((metric) => metric.points)
      .filter(({ attributes }) => attributes.route === '/api/v1/logs')
  await expect.poll(() => points().at(-1)?.value, { timeout: 25_000 }).toBe(2)
  const [exemplar] = points().flatMap(({ exemplars }) => exemplars)
  expect([exemplar?.traceId, exemplar?.spanId]).toEqual([traceId, request.spanId])
  expect(collector.faults).toEqual([])
})

test('management requests are traced too, and failures are marked', async () => {
  const management = caller()
  await fixture.send('GET', '/users/me', { as: 'admin', headers: management.headers })
  const span = await arrived(management.traceId, 'GET /api/v1/users/me')
  expect([span.kind, span.status, span.attributes['http.response.status_code']]).toEqual([2, 0, 200])
  const broken = caller()
  expect((await fixture.send('GET', '/broken', { headers: broken.headers })).status).toBe(502)
  expect((await arrived(broken.traceId, 'GET /api/v1/broken')).status).toBe(2)
  expect((await arrived(broken.traceId, 'run GET broken')).status).toBe(2)
})

test('what is not sampled is not sent: no header, a header that says so, and headers that are none', async () => {
  const unsampled = caller('00')
  const zeros = { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }
  for (const headers of [{}, unsampled.headers, zeros, { traceparent: 'ff-x' }]) await order(headers)
  const before = collector.spans.length
  const { traceId, headers } = caller()
  await order(headers)
  await arrived(traceId, 'POST /api/v1/orders')
  expect(spansOf(unsampled.traceId)).toEqual([])
  const others = collector.spans.slice(before).filter((span) => span.traceId !== traceId)
  expect(others).toEqual([])
})

test('where all is sampled, a caller decides against a trace; the audit log and metrics arrive beside the traces', async () => {
  const own = await openCollector()
  const all = await openTestQuoin({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: own.url, OTEL_TRACES_SAMPLER_ARG: '1' },
    QUOIN_AUDIT_STREAM: `otlp+${own.url}`,
  })
  try {
    await all.install('Greeting', {
      ask: { type: 'on_startup_register_uri_post', in: { uri: 'hello' }, scopes: ['*public'] },
      answer: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: 'hello' } },
    })
    own.spans.length = 0
    expect((await all.send('POST', '/hello', { headers: caller('00').headers, body: {} })).status).toBe(200)
    expect((await all.send('POST', '/hello', { body: {} })).status).toBe(200)
    await all.addUser('audited', [])
    const audited = () => own.logs.filter(({ body }) => body.includes('"audited"'))
    await expect
      .poll(audited, { timeout: 25_000 })
      .toMatchObject([
        { attributes: { 'audit.chain': expect.any(String), 'audit.place': expect.any(Number) } },
      ])
  } finally {
    await all.close()
    await own.close()
  }
  expect(own.metrics.map(({ name }) => name)).toContain('quoin_http_request_duration_seconds')
  expect(own.faults).toEqual([])
  // The end of a node sends what waits.
  expect(
    own.spans
      .map(({ name }) => name)
      .filter((name) => name.endsWith('hello'))
      .toSorted(),
  ).toEqual(['POST /api/v1/hello', 'run POST hello'])
})

test('a collector that is down holds no request', async () => {
  collector.status = 503
  expect((await order(caller().headers)).status).toBe(202)
  collector.status = 200
})
