/** Changed blocks compared with the deployed ones by recorded runs, of which nothing stays. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let goods: TracedBlueprint
beforeAll(async () => {
  fixture = await openTracingFixture({ QUOIN_RATE_LIMIT: '0' })
  goods = await fixture.install('Goods', {
    list: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] },
    all: { type: 'function_search', in: { flow: '@list.flow', storage: 'goods' } },
    listed: {
      type: 'httpconnection_set_json',
      in: {
        flow: '@all.flow',
        value: '={ titles: sortBy(all.documents.map(one => one.title), one => one), once: uuid() }',
      },
    },
    post: { type: 'on_startup_register_uri_post', in: { uri: 'goods' }, scopes: ['*public'] },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'goods', set: '={ title: body.title }' },
    },
    ask: { type: 'http_request', in: { flow: '@create.flow', url: `${fixture.outside.url}/stock` } },
    made: {
      type: 'httpconnection_set_json',
      in: { flow: '@ask.flow', value: '={ made: create.document, stock: ask.body.asked }', code: 201 },
    },
  })
  await fixture.quoin.addUser('viewer', ['blueprints_view', 'runs_view', 'blueprintactions_view'])
  await goods.trace(true, { minutes: 60, keep_last: 200 })
  for (const title of ['tea', 'salt'])
    expect((await fixture.quoin.send('POST', '/goods', { body: { title } })).status).toBe(201)
  for (let times = 0; times < 3; times++) await fixture.quoin.send('GET', '/goods')
})
afterAll(() => fixture.close())
afterEach(() => fixture.quoin.manage('DELETE', `/blueprintactions/unsaved/${goods.guid}`))

const path = () => `/blueprints/${goods.guid}/compare`
const compare = async (body?: JsonObject) => objectOf(await fixture.quoin.manage('POST', path(), body))

/** Blocks of the draft: another text in a pin. */
async function stage(block: string, pins: JsonObject): Promise<void> {
  const guid = goods.block(block)
  const now = objectOf(await fixture.quoin.manage('GET', `/blueprintactions/${guid}`))
  const in_pins = objectsOf(now.in_pins ?? []).map((pin) => {
    const text = pins[String(pin.id)]
    return text === undefined ? pin : { ...pin, ...objectOf(text) }
  })
  await fixture.quoin.manage('PUT', `/blueprintactions/${guid}`, { in_pins })
}

const kinds = (compared: JsonObject) =>
  objectsOf(compared.differences ?? []).map(({ label, kind, paths, accepted }) => [
    label,
    kind,
    paths,
    accepted,
  ])

describe('refused', () => {
  test('without the scope, and for what there is not', async () => {
    expect((await fixture.quoin.send('POST', path(), { as: 'viewer' })).status).toBe(403)
    expect((await fixture.quoin.send('POST', path())).status).toBe(401)
    for (const body of [{ state: 'deployed' }, { runs: 201 }, { runs: 0 }])
      expect((await fixture.quoin.send('POST', path(), { as: 'admin', body })).status).toBe(400)
    expect((await fixture.quoin.send('POST', '/blueprints/nothing/compare', { as: 'admin' })).status).toBe(
      404,
    )
  })

  test('a blueprint that was never deployed', async () => {
    const { _meta: meta } = objectOf(await fixture.quoin.manage('POST', '/blueprints', { name: 'New' }))
    const reply = await fixture.quoin.send(
      'POST',
      `/blueprints/${String(objectOf(meta ?? {}).guid)}/compare`,
      { as: 'admin' },
    )
    expect(reply.status).toBe(409)
  })
})

test('without changes all are the same, also what is new each time, and nothing stays', async () => {
  const before = [
    await fixture.quoin.documents('goods'),
    fixture.asked(),
    (await goods.runs('&limit=200')).length,
  ]
  expect(await compare()).toEqual({ ...{ compared: 5, same: 5, differences: [], skipped: [], left: 0 } })
  expect([
    await fixture.quoin.documents('goods'),
    fixture.asked(),
    (await goods.runs('&limit=200')).length,
  ]).toEqual(before)
})

test('a changed value is found once for all runs, and can be accepted', async () => {
  await stage('listed', {
    value: {
      expression: '{ titles: sortBy(all.documents.map(one => upper(one.title)), one => one), once: uuid() }',
    },
  })
  const found = await compare()
  expect([found.compared, found.same, kinds(found)]).toEqual([
    5,
    2,
    [['GET goods', 'value', ['titles[]'], false]],
  ])
  const [difference] = objectsOf(found.differences ?? [])
  expect([objectOf(difference?.deployed ?? {}).body, objectOf(difference?.candidate ?? {}).body]).toEqual([
    expect.objectContaining({ titles: ['salt', 'tea'] }),
    expect.objectContaining({ titles: ['SALT', 'TEA'] }),
  ])
  const accepted = await compare({ accepted: [String(difference?.key)] })
  expect(kinds(accepted)).toEqual([['GET goods', 'value', ['titles[]'], true]])
  // The saved blocks are the deployed ones.
  expect(kinds(await compare({ state: 'saved' }))).toEqual([])
  expect((await compare({ runs: 2 })).compared).toBe(2)
})

test.each([
  [
    'a name that is gone',
    'listed',
    { value: { expression: '{ once: uuid() }' } },
    ['GET goods', 'shape', ['titles'], false],
  ],
  ['another status', 'made', { code: { value: 200 } }, ['POST goods', 'status', [], false]],
  [
    'a run that fails',
    'create',
    { set: { expression: "{ title: number('no') }" } },
    ['POST goods', 'fails', [], false],
  ],
] as const)('%s', async (_what, block, pins, found) => {
  await stage(block, pins)
  expect(kinds(await compare())).toEqual([found])
})
