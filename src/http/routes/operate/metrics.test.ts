/** What is counted, and who may see it, on a whole Quoin with a second door that counts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareEndpointServices } from '../../../../test/bare-services.ts'
import { openTestQuoin, type TestQuoin } from '../../../../test/end-to-end/harness.ts'
import { runPipeline } from '../../../flows/run-pipeline.ts'
import { customEndpoints } from '../../endpoints/custom-endpoints.ts'
import { openIdempotency } from '../../endpoints/endpoint-idempotency.ts'
import { type Metrics, openMetrics } from '../../metrics/metrics.ts'
import { openServer, type Server } from '../../server/server.ts'
import { userRoutes } from '../people/users.ts'
import { metricsRoutes } from './metrics.ts'

const secret = 'a-secret-for-the-collector'
let quoin: TestQuoin
let metrics: Metrics
let openServices: Readonly<Record<'production' | 'development', Server>>

beforeAll(async () => {
  quoin = await openTestQuoin()
  const { access, flows, database } = quoin.quoin
  const runs = runPipeline(flows)
  const idempotency = await openIdempotency(database, Date.now)
  const services = await bareEndpointServices(flows, quoin.directory)
  metrics = openMetrics({
    flows,
    runs,
    version: '1.2.3',
    queues: async () => [{ queue: 'mail', state: 'waiting', jobs: 4 }],
    database: database.capabilities.figures,
  })
  const open = async (environment: 'production' | 'development') =>
    openServer({
      access,
      clock: Date.now,
      version: '1.2.3',
      settings: {
        host: '127.0.0.1',
        port: 0,
        bodyLimit: 10_000,
        corsOrigins: [],
        rateLimit: 1000,
        connections: 0,
        waitingBytes: 0,
        environment,
        trustProxy: false,
        logLevel: 'silent',
      },
      api: [userRoutes(access), customEndpoints({ flows, runs, idempotency, ...services })],
      finished: metrics.finished,
      root: [
        metricsRoutes({ text: metrics.text, token: environment === 'production' ? secret : '', environment }),
      ],
    })
  openServices = { production: await open('production'), development: await open('development') }
  await quoin.addUser('watcher', ['systemlogs_view'])
  await quoin.addUser('other', ['users_view'])
})
afterAll(async () => {
  await openServices.production.close()
  await openServices.development.close()
  metrics.close()
  await quoin.close()
})

describe('who may see them', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  test.each([
    { door: 'production', who: 'nobody', headers: {}, status: 401 },
    { door: 'production', who: 'a wrong secret', headers: bearer('a-secret-for-the-collectoR'), status: 401 },
    { door: 'production', who: 'an empty secret', headers: { authorization: 'Bearer ' }, status: 401 },
    {
      door: 'development',
      who: 'a client behind a proxy',
      headers: { 'x-forwarded-for': '1.2.3.4' },
      status: 401,
    },
    { door: 'development', who: 'a wrong secret', headers: bearer('no'), status: 401 },
    {
      door: 'development',
      who: 'an empty secret where none is set',
      headers: { authorization: 'Bearer ' },
      remoteAddress: '10.0.0.1',
      status: 401,
    },
    { door: 'development', who: 'another machine', headers: {}, remoteAddress: '10.0.0.1', status: 401 },
    { door: 'development', who: 'this machine', headers: {}, status: 200 },
    { door: 'development', who: 'this machine (IPv6)', headers: {}, remoteAddress: '::1', status: 200 },
  ] as const)('$door, $who: $status', async ({ door: metricsServices, headers, status, ...from }) => {
    const reply = await openServices[metricsServices].app.inject({ url: '/metrics', headers, ...from })
    expect(reply.statusCode).toBe(status)
    expect(reply.body.includes('quoin_info')).toBe(status === 200)
  })

  test.each([
    { username: 'other', status: 403 },
    { username: 'watcher', status: 200 },
    { username: 'admin', status: 200 },
  ])('a user: $username: $status', async ({ username, status }) => {
    const headers = bearer(await quoin.tokenOf(username))
    const reply = await openServices.production.app.inject({ url: '/metrics', headers })
    expect(reply.statusCode).toBe(status)
  })

  test('the collector', async () => {
    const reply = await openServices.production.app.inject({ url: '/metrics', headers: bearer(secret) })
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(reply.headers['cache-control']).toBe('no-store')
  })
})

describe('what is counted', () => {
  const send = (url: string, options: { method?: 'GET' | 'HEAD' | 'POST'; as?: string } = {}) =>
    openServices.production.app.inject({
      method: options.method ?? 'GET',
      url: `/api/v1${url}`,
      ...(options.as !== undefined && { headers: { authorization: `Bearer ${options.as}` } }),
    })

  /** Sample lines of a metric, as `labels value`. */
  const lines = async (name: string) =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .map((line) => line.slice(name.length).trim())

  test('requests by route template, never by what was sent', async () => {
    await quoin.install('counted', {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'counted/{word}' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'ok' } },
      off: { type: 'on_startup_register_uri_post', in: { uri: 'counted' } },
      no: { type: 'httpconnection_set_json', in: { flow: '@off.flow', value: 'no', code: 418 } },
    })
    for (const word of ['a', 'b', 'c']) expect((await send(`/counted/${word}`)).statusCode).toBe(200)
    await send('/counted/d', { method: 'HEAD' })
    expect((await send('/counted', { method: 'POST' })).statusCode).toBe(418)
    for (const path of ['/nothing', '/nothing/else']) expect((await send(path)).statusCode).toBe(404)
    const as = await quoin.tokenOf('admin')
    expect((await send('/users/0190', { as })).statusCode).toBe(404)
    expect((await send('/users/0191')).statusCode).toBe(401)
    const counted = (await lines('quoin_http_requests_total')).filter((line) => !line.includes('/metrics'))
    expect(counted.sort()).toEqual([
      '{method="GET",route="/api/v1/*",status="4xx"} 2',
      '{method="GET",route="/api/v1/counted/{word}",status="2xx"} 4',
      '{method="GET",route="/api/v1/users/:guid",status="4xx"} 2',
      '{method="POST",route="/api/v1/counted",status="4xx"} 1',
    ])
  })

  test('durations as a histogram that adds up', async () => {
    const labels = 'method="GET",route="/api/v1/counted/{word}"'
    const buckets = (await lines('quoin_http_request_duration_seconds_bucket'))
      .filter((line) => line.includes(labels))
      .map((line) => Number(line.split(' ').at(-1)))
    expect(buckets).toHaveLength(15)
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
    expect(buckets.at(-1)).toBe(4)
    expect(await lines('quoin_http_request_duration_seconds_count')).toContain(`{${labels}} 4`)
    const sum = (await lines('quoin_http_request_duration_seconds_sum')).find((line) => line.includes(labels))
    expect(Number(sum?.split(' ').at(-1))).toBeGreaterThan(0)
  })

  test('runs by blueprint and outcome', async () => {
    const guid = await quoin.install('ends "so"', {
      ok: { type: 'on_startup_register_uri_get', in: { uri: 'ends/ok' } },
      done: { type: 'httpconnection_set_json', in: { flow: '@ok.flow', value: 1 } },
      bad: { type: 'on_startup_register_uri_get', in: { uri: 'ends/bad' } },
      limit: {
        type: 'httpconnection_get_params',
        in: { connection: '@bad.connection', field: 'limit' },
      },
      things: { type: 'storage', fields: { storage: 'things' } },
      search: {
        type: 'function_search',
        in: { flow: '@bad.flow', storage: '@things.storage', limit: '@limit.value' },
      },
      wrong: { type: 'on_startup_register_uri_get', in: { uri: 'ends/wrong' } },
      call: { type: 'function_custom_execute', in: { flow: '@wrong.flow', function: 'nobody' } },
    })
    expect((await send('/ends/ok')).statusCode).toBe(200)
    expect((await send('/ends/bad?limit=abc')).statusCode).toBe(400)
    expect((await send('/ends/wrong')).statusCode).toBe(500)
    expect((await lines('quoin_runs_total')).filter((line) => line.includes(guid))).toEqual(
      ['done', 'refused', 'failed', 'stopped'].map(
        (outcome) =>
          `{blueprint="${guid}",name="ends \\"so\\"",outcome="${outcome}"} ${outcome === 'stopped' ? 0 : 1}`,
      ),
    )
    expect(await lines('quoin_runs_under_way')).toEqual(['0'])
  })

  test('executed blocks by type: flow blocks and values, also of a run that fails', async () => {
    const executed = async () =>
      new Map(
        (await lines('quoin_blocks_executed_total')).map((line) => {
          const [labels = '', count] = line.split(' ')
          return [labels, Number(count)] as const
        }),
      )
    const before = await executed()
    const blocks = {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'executes' } },
      limit: { type: 'httpconnection_get_params', in: { connection: '@on.connection', field: 'limit' } },
      // Never asked for, so never executed.
      idle: { type: 'condition_not_empty_value', in: { value: '@limit.value' } },
      // Its value is known when it is deployed.
      fixed: { type: 'object_new_fields', in: { a: 1 }, fields: { fields: ['a'] } },
      things: { type: 'storage', fields: { storage: 'things' } },
      search: {
        type: 'function_search',
        in: { flow: '@on.flow', storage: '@things.storage', limit: '@limit.value' },
      },
      // An alias counts as the block that it names, and one that touches the world outside counts too.
      ask: { type: 'http request', in: { flow: '@search.error', url: 'http://127.0.0.1/' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@fixed.object' } },
      sorry: { type: 'httpconnection_set_json', in: { flow: '@ask.error', value: 'sorry' } },
    }
    const first = await quoin.install('executes', blocks)
    for (const limit of ['1', '2', '3', 'x'])
      expect((await send(`/executes?limit=${limit}`)).statusCode).toBe(200)
    // The counts go on when the same blocks are deployed again.
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${first}`)
    await quoin.manage('PUT', `/blueprints/update/set/active/${first}`)
    expect((await send('/executes')).statusCode).toBe(200)
    const after = await executed()
    const more = [...after].flatMap(([labels, count]) => {
      const added = count - (before.get(labels) ?? 0)
      return added > 0 ? [[labels, added]] : []
    })
    expect(Object.fromEntries(more)).toEqual({
      '{type="function_search"}': 5,
      '{type="http_request"}': 1,
      '{type="httpconnection_get_params"}': 5,
      '{type="httpconnection_set_json"}': 5,
    })
  })

  test('queues, the version and the process', async () => {
    expect(await lines('quoin_queue_jobs')).toEqual(['{queue="mail",state="waiting"} 4'])
    expect(await lines('quoin_info')).toEqual(['{version="1.2.3"} 1'])
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_open_fds',
      'nodejs_heap_size_used_bytes',
    ])
      expect(Number((await lines(name))[0])).toBeGreaterThan(0)
    expect(Number((await lines('nodejs_eventloop_lag_p99_seconds'))[0])).toBeGreaterThanOrEqual(0)
  })

  test('every line is one that a collector can read', async () => {
    const sample =
      /^[a-z_][a-z0-9_]*(\{[a-z]+="([^"\\\n]|\\[\\"n])*"(,[a-z]+="([^"\\\n]|\\[\\"n])*")*\})? (\d+(\.\d+)?(e[+-]\d+)?)$/
    const text = await metrics.text()
    expect(text.endsWith('\n')).toBe(true)
    const unusual = text
      .trimEnd()
      .split('\n')
      .filter((line) => !/^# (HELP|TYPE) [a-z0-9_]+ .+$/.test(line) && !sample.test(line))
    expect(unusual).toEqual([])
  })
})
