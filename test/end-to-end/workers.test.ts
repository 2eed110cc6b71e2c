/** QUOIN_WORKERS: several processes on one embedded database promise what one does. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { startLocalServer } from '../local-server.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { type Connection, openWorkerRoom, type WorkerRoom } from './worker-room.ts'

const get = (uri: string, scopes = ['*public']): JsonObject => ({
  type: 'on_startup_register_uri_get',
  in: { uri },
  scopes,
})
const post = (uri: string): JsonObject => ({
  type: 'on_startup_register_uri_post',
  in: { uri },
  scopes: ['*public'],
})
const reply = (flow: string, value: unknown, code = 200): JsonObject => ({
  type: 'httpconnection_set_json',
  in: { flow, value: value as string, code },
})

/** A constant reply. */
const constant = (uri: string, value = 'here', scopes?: string[]): JsonObject => ({
  on: get(uri, scopes),
  reply: reply('@on.flow', value),
})

/** Makes items and lists those of a kind, the newest first. */
const items: JsonObject = {
  items: { type: 'storage', fields: { storage: 'items' } },
  add: post('items'),
  fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { object: '@add.body' },
    fields: { fields: ['kind', 'n'] },
  },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: '@items.storage', mutations: '@fields.mutations' },
  },
  created: reply('@create.flow', '@create.document', 201),
  remove: { type: 'on_startup_register_uri_delete', in: { uri: 'items/{guid}' }, scopes: ['*public'] },
  guid: { type: 'httpconnection_get_params', in: { connection: '@remove.connection', field: 'guid' } },
  gone: {
    type: 'function_remove_document',
    in: { flow: '@remove.flow', storage: '@items.storage', guid: '@guid.value' },
  },
  removed: reply('@gone.flow', 'removed'),
  list: get('items'),
  kind: { type: 'httpconnection_get_params', in: { connection: '@list.connection', field: 'kind' } },
  of_kind: { type: 'query_bool_term_fields', in: { field: 'kind', value: '@kind.value' } },
  search: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: '@items.storage', query: '@of_kind.query', limit: 1000 },
  },
  listed: reply('@search.flow', '@search.documents'),
}

const numbers = (body: unknown): unknown[] =>
  objectsOf(body as never)
    .map(({ n }) => n)
    .sort()

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(10)
}

describe('with one process', () => {
  test('nothing is forked', async () => {
    const room = await openWorkerRoom({ QUOIN_WORKERS: '1' })
    expect(room.readers()).toEqual([])
    expect(objectOf((await room.connect().call('GET', '/info')).body).nodes).toBe(1)
    await room.close()
  })
})

describe('with three processes', () => {
  let room: WorkerRoom
  beforeAll(async () => {
    room = await openWorkerRoom()
    await room.install('Items', items)
  }, 60_000)
  afterAll(() => room.close())

  const each = async (path: string, token?: string) => {
    const replies = await room.everywhere(path, token)
    return [...new Set(replies.map(({ status }) => status))]
  }

  test('two read beside one that writes, and are nodes of the cluster', async () => {
    expect(room.readers()).toHaveLength(2)
    const nodes = objectsOf(await room.manage('GET', '/_system/nodes'))
    expect(nodes.map(({ live, self }) => [live, self])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ])
    expect(objectOf(await room.manage('GET', '/info')).nodes).toBe(3)
  })

  test('they answer without the one that writes; what it has to do waits for it', async () => {
    await room.install('alone', constant('alone'))
    process.kill(room.process.pid, 'SIGSTOP')
    try {
      const answered: number[] = []
      const replies = room.connections.map(async ({ call }) => {
        answered.push((await call('GET', '/alone')).status)
      })
      await until(() => answered.length > 5)
      process.kill(room.process.pid, 'SIGCONT')
      await Promise.all(replies)
      expect(new Set(answered)).toEqual(new Set([200]))
    } finally {
      process.kill(room.process.pid, 'SIGCONT')
    }
  })

  test('each process reads the acknowledged value of the environment, also where replies are kept', async () => {
    await room.install('values', { on: get('value'), reply: reply('@on.flow', '=env.COLOR ?? "none"') })
    const seen = async () => new Set((await room.everywhere('/value')).map(({ body }) => body))
    expect(await seen()).toEqual(new Set(['none']))
    const made = await room.manage('POST', '/_system/environment', { name: 'COLOR', value: 'red' })
    for (let again = 0; again < 3; again++) expect(await seen()).toEqual(new Set(['red']))
    await room.manage('PUT', `/_system/environment/${guidOf(made)}`, { value: 'blue' })
    expect(await seen()).toEqual(new Set(['blue']))
    await room.manage('DELETE', `/_system/environment/${guidOf(made)}`)
    expect(await seen()).toEqual(new Set(['none']))
  })

  test('each process keeps to a setting once it is acknowledged, and to the default once it is removed', async () => {
    const value = '=params.list.split(",").map(one => one + params.round).length'
    await room.install('counted', { on: get('counted'), reply: reply('@on.flow', value) })
    let round = 0
    const seen = async () => {
      round += 1
      const path = `/counted?round=${round}&list=${Array(300).fill(1).join(',')}`
      return new Set((await room.everywhere(path)).map(({ status }) => status))
    }
    expect(await seen()).toEqual(new Set([200]))
    for (let again = 0; again < 3; again += 1) {
      await room.manage('PUT', '/_system/settings/QUOIN_RUN_BUDGET', { value: '100' })
      expect(await seen()).toEqual(new Set([503]))
      await room.manage('DELETE', '/_system/settings/QUOIN_RUN_BUDGET')
      expect(await seen()).toEqual(new Set([200]))
    }
  })

  test('a request whose key is calculated runs once, on whichever process it is received', async () => {
    await room.install('once', {
      on: {
        type: 'on_startup_register_uri_any',
        in: { uri: 'once', idempotency_key: '=params.id' },
        scopes: ['*public'],
      },
      reply: reply('@on.flow', '=uuid()'),
    })
    const seen = async (id: string) =>
      new Set((await room.everywhere(`/once?id=${id}`)).map(({ body }) => body))
    expect([(await seen('a')).size, (await seen('b')).size, (await seen('')).size > 2]).toEqual([1, 1, true])
  })

  test('a second Quoin at the port is refused', async () => {
    const other = createServer()
    const port = Number(new URL(room.process.address).port)
    other.listen({ port, host: '127.0.0.1' })
    expect(await once(other, 'error')).toMatchObject([{ code: 'EADDRINUSE' }])
    await expect(openWorkerRoom({ QUOIN_PORT: String(port) })).rejects.toThrow('QUOIN_PORT')
  })

  test('whatever is written and asked, each list holds what was acknowledged', async () => {
    const round = fc.array(
      fc.record({
        what: fc.constantFrom('create', 'remove'),
        kind: fc.constantFrom('a', 'b'),
        at: fc.nat(1000),
      }),
      { maxLength: 8 },
    )
    let count = 0
    const there = new Map<string, { kind: string; n: number }>()
    const call = (at: number): Connection['call'] => {
      const one = room.connections[at % room.connections.length]
      if (!one) throw new Error('There are connections.')
      return one.call
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(round, { minLength: 1, maxLength: 8 }),
        fc.nat(1000),
        async (rounds, from) => {
          for (const writes of rounds) {
            const gone = [...there.keys()]
            await Promise.all(
              writes.map(async ({ what, kind, at }, place) => {
                if (what === 'create') {
                  const n = ++count
                  const made = await call(at)('POST', '/items', { body: { kind, n } })
                  expect(made.status).toBe(201)
                  there.set(guidOf(made.body), { kind, n })
                  return
                }
                const guid = gone[place]
                if (guid === undefined) return
                expect((await call(at)('DELETE', `/items/${guid}`)).status).toBe(200)
                there.delete(guid)
              }),
            )
            await Promise.all(
              Array.from({ length: 9 }, async (_none, place) => {
                const kind = place % 2 === 0 ? 'a' : 'b'
                const listed = await call(from + place * 7)('GET', `/items?kind=${kind}`)
                const wanted = [...there.values()].filter((one) => one.kind === kind).map(({ n }) => n)
                expect([listed.status, numbers(listed.body)]).toEqual([200, wanted.sort()])
              }),
            )
          }
        },
      ),
      { numRuns: 30 },
    )
  }, 60_000)

  test('a route is served nowhere once its deactivation is acknowledged, and everywhere once it is active', async () => {
    const guid = await room.install('switch', constant('switch'))
    for (let round = 0; round < 10; round++) {
      expect(await each('/switch')).toEqual([200])
      await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
      expect(await each('/switch')).toEqual([404])
      await room.manage('PUT', `/blueprints/update/set/active/${guid}`)
    }
  })

  test('a token counts nowhere once it is signed out, and scopes change everywhere', async () => {
    await room.install('guarded', constant('guarded', 'yes', ['may_look']))
    const body = { username: 'ada', password: 'a password of a user' }
    const user = guidOf(await room.manage('POST', '/users', { ...body, custom_scopes: ['may_look'] }))
    const signedIn = await room.connect().call('POST', '/auth/signin', { body })
    const token = String(objectOf(signedIn.body).access_token)
    expect(await each('/guarded')).toEqual([404])
    expect(await each('/guarded', token)).toEqual([200])
    await room.manage('PUT', `/users/${user}`, { custom_scopes: [] })
    expect(await each('/guarded', token)).toEqual([404])
    await room.manage('PUT', `/users/${user}`, { custom_scopes: ['may_look'] })
    expect(await each('/guarded', token)).toEqual([200])
    expect((await room.connect().call('POST', '/auth/signout', { token })).status).toBeLessThan(300)
    expect(await each('/guarded', token)).toEqual([404])
  })

  test('an API key counts on every process, and nowhere once it is removed', async () => {
    await room.install('for keys', constant('for_keys', 'yes', ['may_call']))
    const made = await room.manage('POST', '/users/me/keys', { name: 'reader', scopes: ['may_call'] })
    const key = String(objectOf(made).key)
    expect(await each('/for_keys', key)).toEqual([200])
    const listed = await room.manage('GET', '/users/me/keys')
    expect(listed).toMatchObject([{ name: 'reader', last_used: expect.any(Number) }])
    expect(Number(objectOf(Array.isArray(listed) ? (listed[0] ?? null) : null).last_used)).toBeGreaterThan(0)
    await room.manage('DELETE', `/users/me/keys/${guidOf(made)}`)
    expect(await each('/for_keys', key)).toEqual([404])
  })

  test('what a signed-in user asks for behind a second question mark changes no reply of others', async () => {
    await room.connect().call('POST', '/items', { body: { kind: 'open', n: 1_000_000 } })
    for (let round = 0; round < 3; round++) await room.everywhere('/items?kind=open?x', room.token)
    const lists = (await room.everywhere('/items?kind=open')).map(({ body }) => numbers(body))
    expect(lists).toEqual(room.connections.map(() => [1_000_000]))
  })

  test('failed sign-ins are counted together', async () => {
    const body = { username: 'bob', password: 'a password of a user' }
    await room.manage('POST', '/users', body)
    const wrong = { ...body, password: 'not the password' }
    const statuses: number[] = []
    for (const { call } of room.connections.slice(0, 11))
      statuses.push((await call('POST', '/auth/signin', { body: wrong })).status)
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
    for (const { call } of room.connections.slice(0, 6))
      expect((await call('POST', '/auth/signin', { body })).status).toBe(429)
  })

  test('a cache key that was deleted is in no cache', async () => {
    await room.install('menu', {
      dishes: { type: 'storage', fields: { storage: 'dishes' } },
      on: get('menu'),
      search: {
        type: 'function_search',
        in: { flow: '@on.flow', storage: '@dishes.storage', cache_key: 'menu', cache_seconds: 3600 },
      },
      page: {
        type: 'object_new_fields',
        in: { cached: '@search.from_cache' },
        fields: { fields: ['cached'] },
      },
      reply: reply('@search.flow', '@page.object'),
      forget: post('menu'),
      deleted: { type: 'function_kvstore_cache_delete_key', in: { flow: '@forget.flow', key: 'menu' } },
      done: reply('@deleted.flow', 'done'),
    })
    const cached = async () => (await room.everywhere('/menu')).map(({ body }) => objectOf(body).cached)
    await cached()
    expect(new Set(await cached())).toEqual(new Set([true]))
    expect((await room.connect().call('POST', '/menu')).status).toBe(200)
    // One after the other, each process has to search once again.
    const again = await cached()
    expect(again.filter((one) => one === false).length).toBeGreaterThanOrEqual(2)
  })

  test.each([
    ['404', '/unknown', 300_000],
    ['404', '/guarded-post', 300_000],
    ['401', '/users/search', 300_000],
    ['413', '/items', 1_500_000],
  ])('a body that is refused with %s leaves no connection dead', async (status, path, size) => {
    const port = Number(new URL(room.process.address).port)
    const all = Array.from({ length: 12 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      const type = 'content-type: application/json'
      socket.write(`POST /api/v1${path} HTTP/1.1\r\nhost: a\r\n${type}\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(`"${'x'.repeat(size - 2)}"`)
      socket.write('GET /api/v1/info HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      const replies = await textOf(socket).catch(() => '')
      return [...replies.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)
    })
    // A connection that ends with its reply may take it along while the client is still sending.
    const allowed = status === '413' ? [['413'], []] : [[status, '200']]
    for (const statuses of await Promise.all(all)) expect(allowed).toContainEqual(statuses)
  })

  describe('what a GET does beside reading is done once', () => {
    const fill = (uri: string, before: JsonObject, after = '@step.flow'): JsonObject => ({
      visits: { type: 'storage', fields: { storage: uri } },
      on: get(uri),
      ...before,
      reply: reply(after, 'done'),
    })
    const visit = {
      fields: { type: 'mutations_set_custom_field', in: { field: 'seen', value: 'yes' } },
      step: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@on.flow', storage: '@visits.storage', mutations: '@fields.mutations' },
      },
    }

    test.each<[string, JsonObject]>([
      ['before its reply', fill('visits', visit)],
      [
        'behind its reply',
        {
          ...fill('later', visit, '@on.flow'),
          step: { ...visit.step, in: { ...visit.step.in, flow: '@reply.flow' } },
        },
      ],
    ])('a document that it makes %s', async (_when, blocks) => {
      const uri = String(objectOf(objectOf(blocks.on).in).uri)
      await room.install(uri, blocks)
      for (let round = 1; round <= 2; round++) {
        expect(await each(`/${uri}`)).toEqual([200])
        const [storage] = objectsOf(
          await room.manage('POST', '/_system/storages/search', { filters: { name: uri } }),
        )
        const documents = `/_system/storages/${guidOf(storage)}/documents/search`
        const count = async () => objectsOf(await room.manage('POST', documents, { limit: 1000 })).length
        await until(async () => (await count()) >= round * room.connections.length)
        expect(await count()).toBe(round * room.connections.length)
      }
    })

    test('a request that it sends', async () => {
      let asked = 0
      const other = await startLocalServer((_request, response) => {
        asked += 1
        response.end('{}')
      })
      const next = await openWorkerRoom({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${other.port}` })
      try {
        await next.install('asks', {
          on: get('asks'),
          ask: { type: 'http_request', in: { flow: '@on.flow', url: other.url } },
          reply: reply('@ask.flow', 'asked'),
        })
        const replies = await next.everywhere('/asks')
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
        expect(asked).toBe(replies.length)
      } finally {
        await next.close()
        await other.close()
      }
    }, 60_000)

    test('a line that it logs', async () => {
      await room.install('logs', {
        on: get('logs'),
        log: {
          type: 'function_console_log',
          in: { flow: '@on.flow', value: 'logged by a reader?', level: 'warn' },
        },
        reply: reply('@log.flow', 'done'),
      })
      expect(await each('/logs')).toEqual([200])
      const logged = async () =>
        objectsOf(
          await room.manage('POST', '/_system/systemlogs/search', {
            query: '"logged by a reader"',
            limit: 1000,
          }),
        ).length
      await until(async () => (await logged()) >= room.connections.length)
      expect(await logged()).toBe(room.connections.length)
    })

    test('a write whose error is caught is no refusal for the client', async () => {
      const made = fill('caught', { ...visit, failed: reply('@step.error', 'refused', 500) })
      await room.install('caught', made)
      expect(await each('/caught')).toEqual([200])
    })
  })

  test('the metrics are those of all processes', async () => {
    await room.install('metered', constant('metered'))
    await room.everywhere('/metered')
    const text = await (await fetch(`${room.process.address}/metrics`)).text()
    const line = text
      .split('\n')
      .find((one) => one.startsWith('quoin_http_requests_total{') && one.includes('/metered'))
    expect(line?.split(' ').at(-1)).toBe(String(room.connections.length))
  })
})
