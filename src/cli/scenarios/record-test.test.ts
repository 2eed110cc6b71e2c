/** A recorded run becomes a test, which passes as it is, and fails when what it expects is not so. */
import { mkdir, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture } from '../../../test/command-fixture.ts'
import { objectOf, objectsOf } from '../../../test/end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'

let fixture: CommandFixture
let pay: LocalServer
let folder: string
let blueprint: string

const blocks = (charges: string): JsonObject => ({
  move: { type: 'on_startup_register_uri_post', in: { uri: 'moves' }, scopes: ['stock_move'] },
  find: {
    type: 'function_search_single_result',
    in: { flow: '@move.flow', storage: 'goods', where: '=doc.number == body.number' },
  },
  charge: {
    type: 'http_request',
    in: { flow: '@find.flow', method: 'POST', url: charges, body: '={ amount: body.quantity }' },
  },
  change: {
    type: 'function_update_document_mutations',
    in: {
      flow: '@charge.flow',
      storage: 'goods',
      guid: '=find.document._meta.guid',
      set: '={ stock: find.document.stock + body.quantity, charge: charge.body.id }',
    },
  },
  store: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: '@change.flow',
      storage: 'moves',
      set: '={ number: body.number, by: user.username, at: now(), key: uuid() }',
    },
  },
  mail: {
    type: 'send_mail',
    in: { flow: '@store.flow', to: 'boss@example.com', subject: '="Moved " + body.number', text: 'See.' },
  },
  done: { type: 'reply', in: { flow: '@mail.flow', code: 201, value: '@store.document' } },
  unknown: { type: 'reply', in: { flow: '@find.not_found', code: 404, value: '={ error: "unknown" }' } },
  add: {
    type: 'trigger_custom_function',
    out: [{ id: 'by', type: 'number' }],
    fields: { name: 'add' },
  },
  sum: { type: 'function_return', in: { flow: '@add.flow', value: '=params.by + 1' } },
})

beforeAll(async () => {
  pay = await startLocalServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"id":"ch_1"}')
  })
  fixture = await openCommandFixture('over HTTP', {
    settings: {
      QUOIN_ALLOWED_HOSTS: '127.0.0.1',
      QUOIN_MAIL_URL: 'smtp://127.0.0.1:1',
      QUOIN_MAIL_FROM: 'a@example.com',
    },
  })
  folder = fixture.file('app')
  await mkdir(folder)
  const file = `${folder}/moves.blueprint.json`
  const group = { name: 'movers', scopes: ['stock_move'] }
  const fields = [{ storage: 'goods', name: 'number', type: 'string' }]
  await writeFile(
    file,
    JSON.stringify({ name: 'Moves', groups: [group], fields, blocks: blocks(`${pay.url}/charges`) }),
  )
  expect(await fixture.run(['import', file, '--activate'])).toMatchObject({ code: 0 })
  const [found] = objectsOf(await call('POST', '/blueprints/search', {}))
  blueprint = String(objectOf(found?._meta).guid)
  await call('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
  const [movers] = objectsOf(await call('POST', '/_system/authentication-groups/search', {}))
  const user = {
    username: 'ann',
    password: 'a password of ann',
    groups: [String(objectOf(movers?._meta).guid)],
  }
  await call('POST', '/users', user)
  const [goods] = objectsOf(await call('POST', '/_system/storages/search', { filters: { name: 'goods' } }))
  await call('POST', `/_system/storages/${objectOf(goods?._meta).guid}/documents`, {
    number: 'A1',
    stock: 10,
  })
})
afterAll(async () => {
  await fixture.close()
  await pay.close()
})

async function call(
  method: string,
  path: string,
  body?: JsonValue,
  token = fixture.environment.QUOIN_TOKEN,
): Promise<JsonValue> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const reply = await fetch(`${fixture.flags[1]}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return reply.json()
}

async function recorded(): Promise<JsonObject> {
  const [run] = objectsOf(await call('GET', `/runs?blueprint=${blueprint}`))
  const end = await fixture.run(['test', '--record', String(run?.guid)])
  expect(end).toMatchObject({ code: 0, complained: '' })
  return objectOf(JSON.parse(end.printed))
}
const passes = async (scenario: JsonValue) => {
  await writeFile(`${folder}/one.test.json`, JSON.stringify(scenario))
  return quoinCommand(['test', folder], fixture.environment)
}

test.each([['a run that is not there', 'none', 'There is no traced run with the guid none']])(
  '%s is refused',
  async (_what, guid, message) => {
    expect(await fixture.run(['test', '--record', guid])).toMatchObject({
      code: 1,
      complained: expect.stringContaining(message),
    })
  },
)

test('a request: its user, what it read, what another server replied, and what came of it', async () => {
  const { access_token: token } = objectOf(
    await call('POST', '/auth/signin', { username: 'ann', password: 'a password of ann' }),
  )
  expect(await call('POST', '/moves', { number: 'A1', quantity: -2 }, String(token))).toMatchObject({
    by: 'ann',
  })
  const scenario = await recorded()
  expect(scenario).toMatchObject({
    name: 'POST moves, as recorded',
    given: {
      users: [{ username: 'ann', groups: ['movers'] }],
      documents: { goods: [{ number: 'A1', stock: 10 }] },
      replies: [{ to: `POST ${pay.url}/charges`, status: 200, body: { id: 'ch_1' } }],
    },
    steps: [
      {
        request: 'POST /moves',
        as: 'ann',
        body: { number: 'A1', quantity: -2 },
        expect: {
          status: 201,
          body: { number: 'A1', by: 'ann', at: '=value != null', key: '=length(value) == 36' },
          documents: {
            goods: [{ number: 'A1', stock: 8, charge: 'ch_1' }],
            moves: [{ number: 'A1', by: 'ann' }],
          },
          mails: [{ to: 'boss@example.com', subject: 'Moved A1' }],
          calls: [{ to: `POST ${pay.url}/charges`, body: { amount: -2 } }],
        },
      },
    ],
  })
  expect(await passes(scenario)).toMatchObject({ code: 0 })
  const less = structuredClone(scenario)
  const changed = JSON.stringify(less).replace('"stock":10', '"stock":11')
  expect(await passes(JSON.parse(changed))).toMatchObject({
    code: 1,
    printed: expect.stringContaining('documents.goods'),
  })
})

test('a request that is refused, and a function', async () => {
  await call('POST', '/moves', { number: 'B2', quantity: 1 })
  const refused = await recorded()
  expect(refused).toMatchObject({
    steps: [{ as: 'admin', expect: { status: 404, body: { error: 'unknown' } } }],
  })
  expect(await passes(refused)).toMatchObject({ code: 0 })
  await call('POST', `/blueprints/${blueprint}/run`, { trigger: 'add', input: { by: 3 }, effects: 'real' })
  const called = await recorded()
  expect(called).toMatchObject({ steps: [{ call: 'add', parameters: { by: 3 }, expect: { body: 4 } }] })
  expect(await passes(called)).toMatchObject({ code: 0 })
})
