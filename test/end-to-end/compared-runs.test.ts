/** Changed blocks compared with the deployed ones by recorded runs, of which nothing stays. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, soon, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

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
  expect(await compare()).toEqual({
    ...{ compared: 5, same: 5, differences: [], skipped: [], remembered: 0, left: 0, slower: [] },
  })
  expect([
    await fixture.quoin.documents('goods'),
    fixture.asked(),
    (await goods.runs('&limit=200')).length,
  ]).toEqual(before)
})

test('what is set of tracing while differences are accepted stays, and the other way round', async () => {
  const { blueprints } = fixture.quoin.quoin.tracing
  const read = blueprints.read.bind(blueprints)
  const before = await read(goods.guid)
  let [oneIn, isSetting] = [0, false]
  const looked = vi.spyOn(blueprints, 'read').mockImplementation(async (guid) => {
    const rules = await read(guid)
    if (isSetting) return rules
    isSetting = true
    await goods.trace(true, { minutes: 60, keep_last: 200, record_one_in: ++oneIn })
    isSetting = false
    return rules
  })
  try {
    await compare({ accepted: ['a'], remember: true })
  } finally {
    looked.mockRestore()
  }
  const after = await read(goods.guid)
  expect([oneIn > 0, after.recordOneIn, after.accepted.keys]).toEqual([true, oneIn, ['a']])
  await goods.trace(true, { minutes: 60, keep_last: 200, record_one_in: 0 })
  const { until: _, ...rules } = await read(goods.guid)
  expect(rules).toEqual({ ...before, until: undefined, accepted: after.accepted })
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
  // Remembered for this deploy, it is counted and not listed again.
  const key = String(difference?.key)
  const keeping = await compare({ accepted: [key], remember: true })
  expect([kinds(keeping), keeping.remembered]).toEqual([[['GET goods', 'value', ['titles[]'], true]], 0])
  const again = await compare()
  expect([again.compared, again.same, kinds(again), again.remembered]).toEqual([5, 2, [], 1])
  await stage('listed', { value: { expression: '{ once: uuid() }' } })
  expect(kinds(await compare())).toEqual([['GET goods', 'shape', ['titles'], false]])
  // Another version is deployed: nothing is accepted of its difference from the next one.
  await fixture.quoin.manage('DELETE', `/blueprintactions/unsaved/${goods.guid}`)
  await stage('made', { code: { value: 202 } })
  await fixture.quoin.manage('POST', `/blueprintactions/unsaved/${goods.guid}`)
  await fixture.quoin.manage('POST', `/blueprints/deploy/${goods.guid}`)
  await stage('listed', {
    value: {
      expression: '{ titles: sortBy(all.documents.map(one => upper(one.title)), one => one), once: uuid() }',
    },
  })
  expect(kinds(await compare())).toEqual([['GET goods', 'value', ['titles[]'], false]])
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

describe('requests that are recorded to be repeated', () => {
  let pets: TracedBlueprint
  const stored = () => fixture.quoin.documents('_recorded_requests')
  const compared = async () =>
    objectOf(await fixture.quoin.manage('POST', `/blueprints/${pets.guid}/compare`, {}))
  /** Sends until a request was recorded: the flow is compiled for it beside the first ones, and a second has room for two. */
  const sendUntil = async (count: number, method: 'GET' | 'POST', query: string, body?: JsonObject) =>
    soon(async () => {
      await fixture.quoin.send(method, `/pets${query}`, { ...(body && { body }) })
      await compared()
      return (await stored()).length >= count || undefined
    })

  beforeAll(async () => {
    pets = await fixture.install('Pets', {
      list: { type: 'on_startup_register_uri_get', in: { uri: 'pets' }, scopes: ['*public'] },
      all: { type: 'function_search', in: { flow: '@list.flow', storage: 'pets' } },
      listed: {
        type: 'httpconnection_set_json',
        in: {
          flow: '@all.flow',
          value: '={ titles: all.documents.map(one => one.title), wrong: query.wrong }',
        },
      },
      post: { type: 'on_startup_register_uri_post', in: { uri: 'pets' }, scopes: ['*public'] },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@post.flow', storage: 'pets', set: '={ title: body.title, chip: body.chip }' },
      },
      made: {
        type: 'httpconnection_set_json',
        in: {
          flow: '@create.flow',
          value: "={ made: create.document, n: number(body.n ?? '1') }",
          code: 201,
        },
      },
    })
    await fixture.quoin.manage('POST', '/blueprintfields', {
      ...{ storage: 'pets', name: 'chip', type: 'string', visible_to: "contains(user.scopes, 'vet')" },
    })
  })

  test('none before it is asked for, and none of another blueprint', async () => {
    await fixture.quoin.send('GET', '/pets')
    expect(await compared()).toMatchObject({ compared: 0 })
    expect(await stored()).toEqual([])
    expect(await pets.trace(false, { record_one_in: 1_000_000 })).toMatchObject({
      ...{ on: false, record_one_in: 1_000_000 },
    })
    await fixture.quoin.send('GET', '/goods')
    expect((await compared()).compared).toBe(0)
  })

  test('the first of each shape, which is repeated; lists of runs do not show it', async () => {
    await sendUntil(1, 'GET', '')
    await fixture.quoin.send('GET', '/pets')
    expect(await compared()).toMatchObject({ compared: 1, same: 1 })
    await sendUntil(2, 'GET', '?wrong=1')
    await sendUntil(3, 'POST', '', { title: 'Rex', chip: 'chip-number-7', password: 'tr0ub4dor' })
    const before = await fixture.quoin.documents('pets')
    expect(await compared()).toMatchObject({ compared: 3, same: 3, differences: [] })
    expect(await fixture.quoin.documents('pets')).toEqual(before)
    expect(await pets.runs()).toEqual([])
    const [run] = (await stored()).filter(({ label }) => label === 'POST pets')
    expect(
      await fixture.quoin.manage('GET', `/runs/${String(objectOf(run?._meta ?? {}).guid)}`),
    ).toMatchObject({
      ...{ recorded_as: 'sampled', steps: [], reply: { status: 201 } },
    })
    // What a field hides from users, and what is secret by its name.
    expect(JSON.stringify(run)).toContain('Rex')
    for (const secret of ['chip-number-7', 'tr0ub4dor']) expect(JSON.stringify(run)).not.toContain(secret)
  })

  test('one that is refused is among the refused runs too, with its values', async () => {
    await sendUntil(4, 'POST', '', { title: 'Tom', n: 'none' })
    const [refused] = await pets.runs('&failed=true')
    expect(refused).toMatchObject({ recorded_as: 'refused', label: 'POST pets' })
    const { steps } = objectOf(await fixture.quoin.manage('GET', `/runs/${String(refused?.guid)}`))
    expect(JSON.stringify(steps)).toContain('Tom')
  })

  test('turned off, they are deleted', async () => {
    expect(await pets.trace(false, { record_one_in: 0 })).toMatchObject({ record_one_in: 0 })
    await fixture.quoin.send('GET', '/pets?another=1')
    expect(await compared()).toMatchObject({ compared: 0 })
    expect(await stored()).toEqual([])
  })
})

test('a block that became much slower is named', async () => {
  for (let times = 0; times < 3; times++) await fixture.quoin.send('GET', '/goods')
  const titles = 'sortBy(all.documents.map(one => one.title), one => one)'
  const busy = "range(1, 4000).filter(n => upper('quoin'.repeat(20 + all.documents.length)) == 'x').length"
  await stage('listed', { value: { expression: `{ titles: ${titles}, once: uuid(), n: ${busy} }` } })
  const found = await compare()
  expect(objectsOf(found.slower ?? []).map(({ block }) => block)).toContain(goods.block('listed'))
})

test('undo of a recorded run names the call that it cannot take back', async () => {
  const { quoin } = fixture
  const [storage] = objectsOf(
    await quoin.manage('POST', '/_system/storages/search', { filters: { name: 'goods' } }),
  )
  await quoin.manage('PUT', `/_system/storages/${guidOf(storage ?? {})}`, { history: true })
  await goods.trace(true, { minutes: 60, keep_last: 200 })
  const before = (await goods.runs('&limit=200')).map(({ guid }) => guid)
  await quoin.send('POST', '/goods', { body: { title: 'rice' } })
  const run = await soon(async () =>
    (await goods.runs('&limit=200')).find(
      ({ guid, label }) => label === 'POST goods' && !before.includes(guid),
    ),
  )
  const undo = objectOf(await quoin.manage('GET', `/runs/${String(run.guid)}/undo`))
  expect([undo.count, undo.outside]).toEqual([1, [{ block: goods.block('ask'), times: 1 }]])
})
