/** Channels: what a flow publishes goes to those who may subscribe, when it is committed, and not otherwise. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type EventReader, readEvents } from '../event-reader.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const reply = (flow: string, value: JsonValue, code = 200) => ({
  type: 'httpconnection_set_json',
  in: { flow, value, code },
})
const on = (method: string, uri: string, scope = '*public') => ({
  type: `on_startup_register_uri_${method}`,
  in: { uri },
  scopes: [scope],
})
const publish = (flow: string, value: JsonValue) => ({
  type: 'publish',
  in: { flow, channel: '=body.channel', value },
})
const store = (flow: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'sent', set: '={ text: body.text ?? query.text }' },
})

const blocks: JsonObject = {
  listen: on('get', 'rooms/{room}', 'rooms'),
  allowed: { type: 'branch', in: { flow: '@listen.flow', condition: '=params.room != "closed"' } },
  subscribe: {
    type: 'subscribe',
    in: { flow: '@allowed.true', channel: '=params.room', first: '={ room: params.room }', minutes: 1 },
  },
  closed: reply('@allowed.false', '={ error: "closed" }', 403),
  posted: on('post', 'listen'),
  subscribe_post: { type: 'subscribe', in: { flow: '@posted.flow', channel: 'x' } },

  asking: on('get', 'ask-and-listen'),
  subscribe_asked: { type: 'subscribe', in: { flow: '@ask.flow', channel: 'asked', first: 'begun' } },

  writing: on('post', 'kept-and-listen'),
  store_writing: store('@writing.flow'),
  subscribe_writing: { type: 'subscribe', in: { flow: '@store_writing.flow', channel: 'x' } },
  reading: on('get', 'kept-and-listen'),
  store_reading: store('@reading.flow'),
  subscribe_reading: { type: 'subscribe', in: { flow: '@store_reading.flow', channel: 'x' } },

  send: on('post', 'send'),
  store: store('@send.flow'),
  publish: publish('@store.flow', '={ text: body.text, guid: store.document._meta.guid }'),
  sent: reply('@publish.flow', 1),
  fail: on('post', 'fail'),
  store_failing: store('@fail.flow'),
  publish_failing: publish('@store_failing.flow', 'never'),
  failing: { type: 'fail', in: { flow: '@publish_failing.flow', message: 'no', status: 422 } },
  late: on('post', 'late'),
  replied: reply('@late.flow', 1),
  publish_late: publish('@replied.flow', 'behind the reply'),
  unit: on('post', 'count'),
  find: { type: 'function_search', in: { flow: '@unit.flow', storage: 'sent', limit: 1 } },
  store_unit: store('@find.flow'),
  publish_unit: publish('@store_unit.flow', 'counted'),
  counted: reply('@publish_unit.flow', 1),
}

let fixture: TestQuoin
let other: LocalServer
const asked = Promise.withResolvers<() => void>()
let blueprint = ''
let origin = ''
const open: EventReader[] = []

beforeAll(async () => {
  other = await startLocalServer((_request, response) => asked.resolve(() => response.end('{}')))
  fixture = await openTestQuoin({
    QUOIN_RATE_LIMIT: '0',
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${other.port}`,
  })
  origin = `${await fixture.quoin.server.listen()}/api/v1`
  await fixture.addUser('ann', ['rooms'])
  await fixture.addUser('outsider', [])
  const ask = { type: 'http_request', in: { flow: '@asking.flow', url: other.url } }
  blueprint = await fixture.install('Rooms', { ...blocks, ask })
})
afterAll(async () => {
  await fixture?.close()
  await other?.close()
})
afterEach(() => {
  for (const reader of open.splice(0)) reader.close()
})

async function listen(
  path: string,
  user?: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const signedIn = user === undefined ? {} : { authorization: `Bearer ${await fixture.tokenOf(user)}` }
  const reader = await readEvents(`${origin}${path}`, { ...signedIn, ...headers })
  open.push(reader)
  return reader
}

/** A stream whose first event has come. */
async function inRoom(name: string, user = 'ann'): Promise<EventReader> {
  const reader = await listen(`/rooms/${name}`, user)
  expect(await reader.data()).toEqual({ room: name })
  return reader
}

const post = (path: string, channel: string, text = 'hello') =>
  fixture.send('POST', path, { body: { channel, text } })

describe('refused', () => {
  test('by the scopes of the trigger: 404', async () => {
    const streams = [await listen('/rooms/a'), await listen('/rooms/a', 'outsider')]
    expect(streams.map(({ status }) => status)).toEqual([404, 404])
  })

  test('by the flow: its own reply', async () => {
    const reader = await listen('/rooms/closed', 'ann')
    expect([reader.status, await reader.text()]).toEqual([403, '{"error":"closed"}'])
  })

  test.each([
    ['a client that takes no events', '/rooms/a', { accept: 'application/json' }],
    ['one that excludes them', '/rooms/a', { accept: 'text/event-stream;q=0' }],
  ])('%s: 406', async (_name, path, headers) => {
    expect((await listen(path, 'ann', headers)).status).toBe(406)
  })

  test('another method than GET: 406', async () => {
    expect((await fixture.send('POST', '/listen', { body: {} })).status).toBe(406)
  })
})

describe('a flow that writes and then subscribes', () => {
  const stored = async (text: string) =>
    (await fixture.documents('sent')).filter((one) => one.text === text).length

  test('has written nothing when another method than GET is refused', async () => {
    const { status } = await fixture.send('POST', '/kept-and-listen', { body: { text: 'post' } })
    expect([status, await stored('post')]).toEqual([406, 0])
  })

  test('has written nothing when a client that takes no events is refused', async () => {
    const { status } = await listen('/kept-and-listen?text=json', 'ann', { accept: 'application/json' })
    expect([status, await stored('json')]).toEqual([406, 0])
  })

  test('has written when the stream begins', async () => {
    const { status } = await listen('/kept-and-listen?text=events', 'ann')
    expect([status, await stored('events')]).toEqual([200, 1])
  })
})

describe('delivered', () => {
  test('in order, to all of the channel and to no other', async () => {
    const [one, two, other] = [await inRoom('a'), await inRoom('a'), await inRoom('b')]
    for (const text of ['1', '2', '3']) await post('/send', 'a', text)
    await post('/send', 'b', 'for b')
    for (const reader of [one, two])
      for (const text of ['1', '2', '3']) expect(await reader.data()).toMatchObject({ text })
    expect(await other.data()).toMatchObject({ text: 'for b' })
  })

  test('when what was written is there for others', async () => {
    const reader = await inRoom('a')
    await post('/send', 'a', 'written')
    const { guid } = (await reader.data()) as { guid: string }
    expect(await fixture.quoin.database.session().get('sent', guid)).toBeDefined()
  })

  test('behind the reply, and by a unit of work', async () => {
    const reader = await inRoom('a')
    await post('/late', 'a')
    expect(await reader.data()).toBe('behind the reply')
    await post('/count', 'a')
    expect(await reader.data()).toBe('counted')
  })

  test('once by each of many units that meet', async () => {
    const reader = await inRoom('many')
    const sent = await Promise.all(Array.from({ length: 12 }, () => post('/count', 'many')))
    expect(sent.map(({ status }) => status)).toEqual(Array(12).fill(200))
    await post('/send', 'many', 'end')
    const got: unknown[] = []
    do got.push(await reader.data())
    while (got.at(-1) === 'counted')
    expect(got).toHaveLength(13)
  })

  test('never, when the run fails', async () => {
    const reader = await inRoom('a')
    expect((await post('/fail', 'a')).status).toBe(422)
    await post('/send', 'a', 'next')
    expect(await reader.data()).toMatchObject({ text: 'next' })
  })
})

describe('the end', () => {
  test('with the scope: an event "error", and nothing of what is published then', async () => {
    const guid = await fixture.addUser('carl', ['rooms'])
    const reader = await inRoom('a', 'carl')
    await fixture.manage('PUT', `/users/${guid}`, { custom_scopes: [] })
    await post('/send', 'a', 'secret')
    expect(await reader.next()).toMatchObject({
      event: 'error',
      data: '{"status":404,"error":"not found"}',
    })
    expect(await reader.next()).toBeUndefined()
  })

  test('with the deployment that its request was for, where that has gone before it begins', async () => {
    const reading = listen('/ask-and-listen')
    const answer = await asked.promise
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    answer()
    const reader = await reading
    expect(await reader.data()).toBe('begun')
    expect(await reader.next()).toBeUndefined()
    await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  })

  test('after the minutes that the block says, and not before', async () => {
    const reader = await inRoom('a')
    fixture.advance(59_000)
    await post('/send', 'a', 'still')
    expect(await reader.data()).toMatchObject({ text: 'still' })
    fixture.advance(2_000)
    expect(await reader.next()).toBeUndefined()
  })
})
