/** Triggers, what a flow knows of its request, its reply, and requests to others. */
import { expect } from 'vitest'
import { startLocalServer } from '../../local-server.ts'
import { call } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { fields, object, on, param, reply } from '../flow-blocks.ts'

const methods = { get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const
const all = Object.values(methods)

/** The method answers at the address, with its body where it has one; the other three do not. */
const registers =
  (verb: keyof typeof methods): Scenario =>
  async (room) => {
    const uri = room.name()
    const value = verb === 'get' ? 'here' : '@on.body'
    await room.run({ on: on(verb, uri), reply: reply('@on.flow', value, 201) })
    const body = verb === 'get' ? undefined : { sent: verb }
    expect(await call(room, methods[verb], uri, body)).toMatchObject({ status: 201, body: body ?? 'here' })
    for (const other of all.filter((method) => method !== methods[verb]))
      expect([other, (await call(room, other, uri)).status]).toEqual([other, 404])
  }

const currentRequest: Scenario = async (room) => {
  const uri = room.name()
  const seen = object({
    method: '@now.method',
    url: '@now.url',
    ip: '@now.ip',
    body: '@now.body',
    header: '@headers.x-row',
    user: '@user.username',
  })
  await room.run({
    on: on('post', uri),
    now: { type: 'httpconnection_current_request' },
    headers: fields('@now.headers', 'x-row'),
    user: fields('@now.user', 'username'),
    seen,
    reply: reply('@on.flow', '@seen.object'),
  })
  const sent = { as: 'stranger', body: { a: 1 }, headers: { 'x-row': 'yes' } }
  expect((await room.send('POST', `/${uri}?q=1`, sent)).body).toEqual({
    method: 'POST',
    url: `/api/v1/${uri}?q=1`,
    ip: '127.0.0.1',
    body: { a: 1 },
    header: 'yes',
    user: 'stranger',
  })
  expect((await call(room, 'POST', uri, [])).body).not.toHaveProperty('user')
}

const queryParameters: Scenario = async (room) => {
  const uri = room.name()
  await room.run({
    on: on('get', `${uri}/{place}`),
    one: param('word'),
    both: object({ word: '@one.value', all: '@one.params', query: '@one.query', path: '@one.path' }),
    reply: reply('@on.flow', '@both.object'),
  })
  expect((await call(room, 'GET', `${uri}/home?word=a%20b&place=query`)).body).toEqual({
    word: 'a b',
    all: { word: 'a b', place: 'home' },
    query: { word: 'a b', place: 'query' },
    path: { place: 'home' },
  })
  expect((await call(room, 'GET', `${uri}/home`)).body).not.toHaveProperty('word')
}

/** Replies with the status and value that were asked for. */
async function echo(room: ContractRoom): Promise<string> {
  const uri = room.name()
  await room.run({
    on: on('post', uri),
    code: param('code'),
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@on.flow', code: '@code.value', value: '@on.body' },
    },
  })
  return uri
}

const replyStatus: Scenario = async (room) => {
  const uri = await echo(room)
  for (const code of [200, 201, 402, 404, 503])
    expect([code, (await call(room, 'POST', `${uri}?code=${code}`, {})).status]).toEqual([code, code])
  const refused = await call(room, 'POST', `${uri}?code=99`, {})
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('code') } })
}

const replyValue: Scenario = async (room) => {
  const uri = await echo(room)
  for (const value of [{ a: [1, null, { b: 'ü' }] }, [], 'text', 7, false, null]) {
    const answer = await call(room, 'POST', `${uri}?code=200`, value)
    expect(answer.body).toEqual(value)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  }
}

const setJson: Scenario = async (room) => {
  await replyStatus(room)
  await replyValue(room)
}

const httpRequest: Scenario = async (room) => {
  const asked: string[] = []
  const other = await startLocalServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(418, { 'content-type': 'application/json' }).end('{"tea":true}')
  })
  try {
    const uri = room.name()
    await room.run({
      on: on('post', uri),
      sent: fields('@on.body', 'url'),
      ask: { type: 'http request', in: { flow: '@on.flow', url: '@sent.url', query: { q: 1 } } },
      told: object({ code: '@ask.code', body: '@ask.body', ok: '@ask.ok' }),
      reply: reply('@ask.flow', '@told.object'),
      failed: reply('@ask.error', 'refused', 502),
    })
    const answer = await call(room, 'POST', uri, { url: `${other.url}/pot` })
    expect(answer.body).toEqual({ code: 418, body: { tea: true }, ok: false })
    expect(asked).toEqual(['GET /pot?q=1'])
    expect(await call(room, 'POST', uri, { url: 'http://10.0.0.1/' })).toMatchObject({ status: 502 })
  } finally {
    await other.close()
  }
}

export const scenarios: Scenarios = {
  on_startup_register_uri_get: registers('get'),
  on_startup_register_uri_post: registers('post'),
  on_startup_register_uri_put: registers('put'),
  on_startup_register_uri_delete: registers('delete'),
  httpconnection_current_request: currentRequest,
  httpconnection_get_params: queryParameters,
  httpconnection_set_json: setJson,
  'http request': httpRequest,
  'reply: status code': replyStatus,
  'reply: data value': replyValue,
}
