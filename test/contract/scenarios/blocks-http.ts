/** Triggers, what a flow knows of its request, and its reply. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { objectOf } from '../../end-to-end/harness.ts'
import { allRefused, call, eventually, needs, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, onStore, param, reply, setAll, setOne, storage } from '../flow-blocks.ts'

const methods = { get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const
const all = Object.values(methods)
type Verb = keyof typeof methods

/** The method answers at the address, with its body where it has one; the other three do not. */
const registers =
  (verb: Verb): Scenario =>
  async (fixture) => {
    const uri = fixture.name()
    const value = verb === 'get' ? 'here' : '@on.body'
    await fixture.run({ on: on(verb, uri), reply: reply('@on.flow', value, 201) })
    const body = verb === 'get' ? undefined : { sent: verb }
    const first = await call(fixture, methods[verb], uri, body)
    expect(first).toMatchObject({ status: 201, body: body ?? 'here' })
    expect(first.headers['cache-control'] ?? '').not.toContain('max-age')
    for (const other of all.filter((method) => method !== methods[verb]))
      expect([other, (await call(fixture, other, uri)).status]).toEqual([other, 404])
    if (verb !== 'get')
      expect((await call(fixture, methods[verb], uri, [1, { a: [] }])).body, 'a list is a body').toEqual([
        1,
        { a: [] },
      ])
    await needs(fixture, { on: on(verb, uri), reply: reply('@on.flow', 1) }, 'on', 'uri')
    await hasPath(fixture, verb)
    await hasScopes(fixture, verb)
    await describesItself(fixture, verb)
    await limitsRate(fixture, verb)
    if (verb === 'get') await mayBeCached(fixture)
    else await runsOnce(fixture, verb)
  }

/** Parameters are in braces or behind a colon; the last one may take all that is left. */
async function hasPath(fixture: ContractFixture, verb: Verb): Promise<void> {
  const uri = fixture.name()
  const read = { type: 'httpconnection_get_params', in: { connection: '@on.connection' } }
  const at = async (written: string) => {
    await fixture.run({ on: on(verb, written), read, reply: reply('@on.flow', '@read.path') })
  }
  await at(`/${uri}/:first/{second}`)
  await at(`${uri}-files/{path...}`)
  const path = async (asked: string) => (await call(fixture, methods[verb], asked)).body
  expect(await path(`${uri}/a%20b/c`)).toEqual({ first: 'a b', second: 'c' })
  expect(await path(`${uri}-files/x/y/z.txt`)).toEqual({ path: 'x/y/z.txt' })
  expect((await call(fixture, methods[verb], `${uri}/a`)).status).toBe(404)
  if (verb !== 'get') return
  const wrong = [
    'a//b',
    'a/../b',
    '{a}/{a}',
    '{a...}/b',
    'a b',
    'api/v1/tasks',
    'x'.repeat(513),
    '{__proto__}',
  ]
  await allRefused(
    fixture,
    wrong.map((written) => on(verb, written)),
  )
}

async function hasScopes(fixture: ContractFixture, verb: Verb): Promise<void> {
  const uri = fixture.name()
  await fixture.run({ on: on(verb, uri, ['*loggedin']), reply: reply('@on.flow', 'in') })
  const unknown = await call(fixture, methods[verb], uri)
  expect(unknown).toMatchObject({ status: 404, body: { error: 'not found' } })
  expect((await fixture.send(methods[verb], `/${uri}`, { as: 'stranger' })).status).toBe(200)
}

const with_ = (verb: Verb, uri: string, settings: JsonObject): JsonObject => ({
  ...on(verb, uri),
  fields: settings,
})

async function describesItself(fixture: ContractFixture, verb: Verb): Promise<void> {
  const uri = fixture.name()
  const description = 'Those of copper, too.'
  const texts = { summary: 'All the pots', description }
  await fixture.run({ on: with_(verb, uri, texts), reply: reply('@on.flow', 1) })
  const { paths } = objectOf((await fixture.send('GET', '/openapi.json')).body)
  expect(objectOf(objectOf(paths)[`/api/v1/${uri}`])[verb]).toMatchObject({
    ...texts,
    // What Quoin says of the endpoint follows: that a GET can be followed, for example.
    description: expect.stringMatching(new RegExp(`^${description}(\n\n|$)`)),
  })
}

/** Two requests a second from one address, not more; another address is not bothered by it. */
async function limitsRate(fixture: ContractFixture, verb: Verb): Promise<void> {
  const uri = fixture.name()
  await fixture.run({ on: with_(verb, uri, { rate_limit: 2 }), reply: reply('@on.flow', 1) })
  const ask = async (remoteAddress: string) => {
    const request = { method: methods[verb], url: `/api/v1/${uri}`, remoteAddress }
    return (await fixture.quoin.server.app.inject(request)).statusCode
  }
  const statuses = await Promise.all(Array.from({ length: 12 }, () => ask('203.0.113.7')))
  expect(statuses.slice(0, 2)).toEqual([200, 200])
  expect(statuses).toContain(429)
  expect(await ask('203.0.113.8')).toBe(200)
  for (const rate_limit of verb === 'get' ? [0, 100_001] : [])
    expect(
      await refused(fixture, { on: with_(verb, uri, { rate_limit }), reply: reply('@on.flow', 1) }),
    ).toContain('rate_limit')
}

async function mayBeCached(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    on: with_('get', uri, { cache_seconds: 90 }),
    code: param('code'),
    reply: reply('@on.flow', 1),
  })
  expect((await call(fixture, 'GET', uri)).headers['cache-control']).toMatch(/\bmax-age=90\b/)
  for (const cache_seconds of [-1, 31_536_001])
    expect(
      await refused(fixture, { on: with_('get', uri, { cache_seconds }), reply: reply('@on.flow', 1) }),
    ).toContain('cache_seconds')
}

/** Only where it is wanted: the same key gets the first reply, and the flow does not run twice. */
async function runsOnce(fixture: ContractFixture, verb: Verb): Promise<void> {
  const writing = async (settings: JsonObject) => {
    const uri = fixture.name()
    await fixture.run({
      store: storage(uri),
      on: with_(verb, uri, settings),
      set: setAll('@on.body'),
      do: create('@on.flow', '@set.mutations'),
      reply: reply('@do.flow', '@do.document', 201),
    })
    const send = (n: number, key?: string) =>
      fixture.send(methods[verb], `/${uri}`, {
        body: { n },
        headers: key === undefined ? {} : { 'idempotency-key': key },
      })
    return { uri, send }
  }
  const once = await writing({ idempotent: true })
  const first = await once.send(1, 'a')
  expect(await once.send(1, 'a')).toMatchObject({ status: 201, body: first.body })
  expect((await once.send(2, 'a')).status, 'another request with the key').toBe(409)
  await once.send(1, 'b')
  await once.send(1)
  expect(await fixture.documents(once.uri)).toHaveLength(3)
  const each = await writing({})
  await each.send(1, 'a')
  await each.send(1, 'a')
  expect(await fixture.documents(each.uri)).toHaveLength(2)
}

const currentRequest: Scenario = async (fixture) => {
  const uri = fixture.name()
  const seen = object({
    method: '@now.method',
    url: '@now.url',
    ip: '@now.ip',
    body: '@now.body',
    header: '@headers.x-row',
    user: '@user.username',
    word: '@asked.value',
  })
  await fixture.run({
    on: on('post', uri),
    now: { type: 'httpconnection_current_request' },
    headers: fields('@now.headers', 'x-row'),
    user: fields('@now.user', 'username'),
    asked: { type: 'httpconnection_get_params', in: { connection: '@now.connection', field: 'q' } },
    seen,
    reply: reply('@on.flow', '@seen.object'),
  })
  const sent = { as: 'stranger', body: { a: 1 }, headers: { 'x-row': 'yes' } }
  expect((await fixture.send('POST', `/${uri}?q=1`, sent)).body).toEqual({
    method: 'POST',
    url: `/api/v1/${uri}?q=1`,
    ip: '127.0.0.1',
    body: { a: 1 },
    header: 'yes',
    user: 'stranger',
    word: '1',
  })
  expect((await call(fixture, 'POST', uri, [])).body).not.toHaveProperty('user')
  expect(objectOf((await call(fixture, 'POST', `${uri}?q=2`, [])).body).word, 'no two requests are one').toBe(
    '2',
  )
  await blamesRequest(fixture, { now: { type: 'httpconnection_current_request' } }, '@now.method')
}

/** What comes with a request and does not fit is the mistake of the client: 400, and it says which pin. */
async function blamesRequest(fixture: ContractFixture, blocks: JsonObject, value: string): Promise<void> {
  const uri = fixture.name()
  const number = { type: 'number_default', in: { value } }
  await fixture.run({ on: on('get', uri), ...blocks, number, reply: reply('@on.flow', '@number.number') })
  expect((await call(fixture, 'GET', `${uri}?word=x`)).status).toBe(400)
}

const queryParameters: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({
    on: on('get', `${uri}/{place}`),
    one: param('word'),
    where: param('place'),
    own: param('constructor'),
    none: { type: 'httpconnection_get_params' },
    both: object({
      word: '@one.value',
      where: '@where.value',
      own: '@own.value',
      none: '@none.value',
      all: '@one.params',
      query: '@one.query',
      path: '@one.path',
    }),
    reply: reply('@on.flow', '@both.object'),
  })
  expect((await call(fixture, 'GET', `${uri}/home?word=a%20b&place=query`)).body).toEqual({
    word: 'a b',
    where: 'home',
    all: { word: 'a b', place: 'home' },
    query: { word: 'a b', place: 'query' },
    path: { place: 'home' },
  })
  expect((await call(fixture, 'GET', `${uri}/home`)).body).not.toHaveProperty('word')
  expect((await call(fixture, 'GET', `${uri}/home?word=one&word=two`)).body).toMatchObject({
    word: 'one',
    query: { word: ['one', 'two'] },
  })
  await blamesRequest(fixture, { asked: param('word') }, '@asked.value')
}

/** Replies with the status and value that were asked for. */
async function echo(fixture: ContractFixture): Promise<string> {
  const uri = fixture.name()
  await fixture.run({
    on: on('post', uri),
    code: param('code'),
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@on.flow', connection: '@on.connection', code: '@code.value', value: '@on.body' },
    },
  })
  return uri
}

const replyStatus: Scenario = async (fixture) => {
  const uri = await echo(fixture)
  for (const code of [200, 201, 402, 404, 503, 599])
    expect([code, (await call(fixture, 'POST', `${uri}?code=${code}`, {})).status]).toEqual([code, code])
  expect((await call(fixture, 'POST', uri, {})).status, 'unless it is said').toBe(200)
  for (const code of ['99', '199', '600', '200.5', 'many']) {
    const refused = await call(fixture, 'POST', `${uri}?code=${code}`, {})
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('code') } })
  }
  for (const code of [204, 205, 304]) {
    const { status, text } = await call(fixture, 'POST', `${uri}?code=${code}`, { a: 1 })
    expect([status, text]).toEqual([code, ''])
  }
}

const replyValue: Scenario = async (fixture) => {
  const uri = await echo(fixture)
  for (const value of [{ a: [1, null, { b: 'ü' }] }, [], 'text', 7, false, null]) {
    const answer = await call(fixture, 'POST', `${uri}?code=200`, value)
    expect(answer.body).toEqual(value)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  }
  expect((await call(fixture, 'POST', uri)).text, 'nothing is null').toBe('null')
}

const setJson: Scenario = async (fixture) => {
  await replyStatus(fixture)
  await replyValue(fixture)
  await replyHeaders(fixture)
  await goesOnBehind(fixture)
}

async function replyHeaders(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    on: on('post', uri),
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 1, headers: '@on.body' } },
  })
  const good = {
    'X-Pots': 'copper',
    'x-count': 7,
    'x-none': null,
    'content-type': 'application/problem+json',
  }
  const { headers, text } = await call(fixture, 'POST', uri, good)
  expect([headers, text]).toMatchObject([
    {
      'x-pots': 'copper',
      'x-count': '7',
      'content-type': expect.stringMatching(/^application\/problem\+json/),
    },
    '1',
  ])
  expect(headers).not.toHaveProperty('x-none')
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, 'a']))
  const bad: readonly JsonObject[] = [
    { 'set-cookie': 'a=1' },
    { 'Content-Length': '5' },
    { 'content-type': 'text/html' },
    { 'a b': 'x' },
    { 'x-lines': 'one\r\nx-two: 2' },
    { 'x-list': ['a'] },
    { 'x-long': 'a'.repeat(8193) },
    many,
  ]
  for (const body of bad) {
    const answer = await call(fixture, 'POST', uri, body)
    expect([Object.keys(body)[0], answer.status]).toEqual([Object.keys(body)[0], 400])
  }
}

/** The flow continues after the reply; a second reply is ignored. */
async function goesOnBehind(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    first: reply('@on.flow', 'first', 202),
    behind: setOne('behind', true),
    write: create('@first.flow', '@behind.mutations'),
    second: reply('@write.flow', 'second'),
  })
  expect(await call(fixture, 'POST', uri, {})).toMatchObject({ status: 202, body: 'first' })
  await eventually(async () => (await fixture.documents(uri)).map((one) => one.behind), [true])
  await failsOverItsPin(fixture)
}

/** A failure goes on at `error` where that is wired: what the reply could not send is said by another one. */
async function failsOverItsPin(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    no: { type: 'httpconnection_set_json', in: { flow: '@on.flow', headers: '@on.body' } },
    instead: reply('@no.error', '@no.error', 418),
    never: onStore('function_search', '@no.flow', {}),
  })
  const body: JsonValue | undefined = (await call(fixture, 'POST', uri, { 'set-cookie': 'a' })).body
  expect(body).toMatchObject({
    code: expect.anything(),
    message: expect.stringContaining('set-cookie'),
    block: expect.any(String),
  })
}

export const scenarios: Scenarios = {
  on_startup_register_uri_get: registers('get'),
  on_startup_register_uri_post: registers('post'),
  on_startup_register_uri_put: registers('put'),
  on_startup_register_uri_delete: registers('delete'),
  httpconnection_current_request: currentRequest,
  httpconnection_get_params: queryParameters,
  httpconnection_set_json: setJson,
  'reply: status code': replyStatus,
  'reply: data value': replyValue,
}
