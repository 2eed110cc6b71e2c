/** Tests that are run on a blueprint as the canvas has it: on what is staged, in a world of their own, and with the blocks and ways that they took. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { blockContent } from '../../src/shared/blueprint.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { building } from '../mcp-agent.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin?.close())

/** Keeps goods with a name, refuses others. */
const goods = (uri: string): JsonObject => ({
  post: { type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
  check: { type: 'branch', in: { flow: '@post.flow', condition: '=body.name != null' } },
  store: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@check.true', storage: uri, set: '={ name: body.name }' },
  },
  made: { type: 'reply', in: { flow: '@store.flow', code: 201, value: '={ made: true }' } },
  refused: { type: 'reply', in: { flow: '@check.false', code: 400, value: '={ made: false }' } },
})

const makes = (uri: string, status = 201): JsonObject => ({
  name: 'Goods are made',
  steps: [{ request: `POST /${uri}`, body: { name: 'tea' }, expect: { status, documents: { [uri]: 1 } } }],
})
const refuses = (uri: string): JsonObject => ({
  name: 'Goods need a name',
  steps: [{ request: `POST /${uri}`, body: {}, expect: { status: 400, documents: { [uri]: 0 } } }],
})

const post = (guid: string, body: JsonObject = {}, as = 'admin') =>
  quoin.send('POST', `/blueprints/${guid}/test`, { as, body })

/** Stages another status of the reply `made`. */
async function stage(blueprint: string, code: number): Promise<void> {
  const blocks = objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  const block = blocks.find(({ name }) => name === 'made') ?? {}
  const entries = Object.keys(blockContent).map((name) => [name, block[name] ?? null] as const)
  const pins = objectsOf(block.in_pins ?? []).map((pin) =>
    pin.id === 'code' ? { ...pin, value: code } : pin,
  )
  const content = { ...Object.fromEntries(entries), in_pins: pins }
  const { update_hash: hash = '' } = objectOf(block._meta ?? {})
  const edits = [{ guid: guidOf(block), update_hash: hash, content }]
  await quoin.manage('POST', `/blueprints/${blueprint}/edits`, { edits })
}

const covered = async (blueprint: string, body: JsonObject) => {
  const coverage = objectOf(objectOf(body.coverage ?? {}))
  const blocks = objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  const names = new Map(blocks.map((one) => [guidOf(one), String(one.name)]))
  return Object.fromEntries(
    objectsOf(coverage.blocks ?? []).map(({ block, ran, ways }) => [
      names.get(String(block)) ?? '?',
      [ran, Object.fromEntries(objectsOf(ways ?? []).map(({ pin, taken }) => [String(pin), taken]))],
    ]),
  )
}

test('a blueprint of its own: what is sent runs on what is staged, and nothing of the cluster is touched', async () => {
  const uri = 'own_goods'
  const guid = await installBlueprint(
    quoin.quoin.flows,
    { name: 'Own goods', blocks: goods(uri) },
    { guid: '', username: 'builder' },
  )
  await quoin.addUser('reader', ['applications_view', 'blueprints_view', 'blueprintactions_view'])
  const tests = { 'goods-are-made': makes(uri) }
  expect((await post(guid, { tests }, 'reader')).status).toBe(403)
  for (const [to, body, status] of [
    ['00000000-0000-7000-8000-000000000000', { tests }, 404],
    [guid, { tests: { '../goods': makes(uri) } }, 400],
    [guid, { tests: { goods: 'none' } }, 400],
    [guid, { files: {} }, 400],
    [guid, {}, 422],
    [guid, { tests: { goods: { name: 'No steps' } } }, 422],
  ] as const)
    expect([body, (await post(to, body)).status]).toEqual([body, status])

  expect((await quoin.send('GET', `/blueprints/${guid}/tests`, { as: 'reader' })).status).toBe(403)
  expect(await quoin.manage('GET', `/blueprints/${guid}/tests`)).toEqual({ application: '', tests: [] })
  const first = objectOf((await post(guid, { tests })).body)
  expect(first).toMatchObject({
    passed: true,
    results: [{ name: 'Goods are made', file: 'tests/goods-are-made.test.json', failures: [] }],
    coverage: { ways: 6, taken: 4 },
  })
  expect(await covered(guid, first)).toEqual({
    post: [true, { flow: true }],
    check: [true, { true: true, false: false }],
    store: [true, { flow: true }],
    made: [true, { '': true }],
    refused: [false, { '': false }],
  })
  // What a failed test has run is drawn too.
  await stage(guid, 202)
  const failed = objectOf((await post(guid, { tests: { ...tests, refuses: refuses(uri) } })).body)
  expect(failed).toMatchObject({
    passed: false,
    results: [
      {
        failures: [`step 1, POST /${uri}: status: expected 201, got 202`],
        trace: [
          {
            ...{ blueprint: 'Own goods', label: `POST ${uri}`, status: 'ended', error: null },
            steps: expect.arrayContaining([
              expect.objectContaining({ block: 'made', in: expect.objectContaining({ code: 202 }) }),
            ]),
          },
        ],
      },
      { name: 'Goods need a name', failures: [] },
    ],
    coverage: { ways: 6, taken: 6 },
  })
  expect((await quoin.send('POST', `/${uri}`, { body: { name: 'coffee' } })).status).toBe(201)
  const [storage] = objectsOf(
    await quoin.manage('POST', '/_system/storages/search', { filters: { name: uri } }),
  )
  const stored = await quoin.manage('POST', `/_system/storages/${guidOf(storage ?? {})}/documents/search`, {})
  expect(objectsOf(stored)).toMatchObject([{ name: 'coffee' }])
})

test('a blueprint of an application: its tests run beside the rest of it, with what is staged here', async () => {
  const name = 'goods_app'
  const draft = await quoin.manage('POST', '/_system/drafts', {
    application: name,
    changes: [
      { path: 'quoin.json', text: JSON.stringify({ name }) },
      { path: 'blueprints/goods.json', text: JSON.stringify({ name, blocks: goods(name) }) },
      {
        path: `storages/${name}.json`,
        text: JSON.stringify({ fields: { name: { type: 'string', required: true } } }),
      },
      { path: 'tests/made.test.json', text: JSON.stringify(makes(name)) },
    ],
  })
  const at = `/_system/drafts/${String(objectOf(draft).guid)}`
  const { state = '' } = objectOf(await quoin.manage('POST', `${at}/plan`))
  await quoin.manage('POST', `${at}/push`, { state })
  const guid = guidOf(
    objectsOf(await quoin.manage('POST', '/blueprints/search', { filters: { name } }))[0] ?? {},
  )

  expect(await quoin.manage('GET', `/blueprints/${guid}/tests`)).toEqual({
    application: name,
    tests: [{ name: 'Goods are made', file: 'made', steps: 1 }],
  })
  await stage(guid, 203)
  expect(objectOf((await post(guid)).body)).toMatchObject({
    passed: false,
    results: [{ failures: [`step 1, POST /${name}: status: expected 201, got 203`] }],
    coverage: { ways: 6, taken: 4 },
  })
  // A test that is sent stands for the one of its name, and is not stored.
  const sent = await post(guid, { tests: { made: makes(name, 203) } })
  expect(objectOf(sent.body)).toMatchObject({ passed: true })
  expect(await quoin.manage('GET', `/blueprints/${guid}/tests`)).toMatchObject({ tests: [{ file: 'made' }] })
})

test('drafts of a blueprint name the blocks that they change, to those who see them', async () => {
  const text = (value: string, more: JsonObject = {}) =>
    JSON.stringify({
      name: 'Marked hello',
      blocks: {
        on: { type: 'on_startup_register_uri_get', in: { uri: 'marked' }, scopes: ['*public'] },
        reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
        ...more,
      },
    })
  const path = 'blueprints/hello.json'
  /** With a key of its own; an answer has its status and body. */
  const agentWith = async (name: string, scopes: readonly string[]) => {
    const made = objectOf(await quoin.manage('POST', '/users/me/keys', { name, scopes: [...scopes] }))
    const headers = { authorization: `Bearer ${String(made.key)}` }
    return {
      draft: async (changes: JsonObject[]) =>
        objectOf(
          (await quoin.send('POST', '/_system/drafts', { headers, body: { application: 'marked', changes } }))
            .body,
        ),
      see: (at: string) => quoin.send('GET', at, { headers }),
    }
  }
  const maker = await agentWith('maker', building)
  const about = { path: 'quoin.json', text: JSON.stringify({ name: 'marked' }) }
  const { guid: first } = await maker.draft([about, { path, text: text('hello') }])
  const { state = '' } = objectOf(await quoin.manage('POST', `/_system/drafts/${first}/plan`))
  await quoin.manage('POST', `/_system/drafts/${first}/push`, { state })
  const named = { filters: { name: 'Marked hello' } }
  const [found = {}] = objectsOf(await quoin.manage('POST', '/blueprints/search', named))
  const drafts = `/blueprints/${guidOf(found)}/drafts`
  const blocks = objectsOf(await quoin.manage('GET', `/blueprints/${guidOf(found)}/blocks`))
  const reply = guidOf(blocks.find(({ name }) => name === 'reply'))
  expect(await quoin.manage('GET', drafts)).toEqual([])
  const agent = await agentWith('other maker', building)
  const more = { more: { type: 'value', in: { value: 1 } } }
  const { guid } = await agent.draft([{ path, text: text('other', more) }])
  await maker.draft([{ path: 'templates/a.css', text: 'main { color: navy }' }])

  expect((await (await agentWith('reader', ['drafts_view'])).see(drafts)).status).toBe(403)
  expect((await maker.see(drafts)).body).toEqual([])
  const shown = [{ guid, agent: 'other maker', author: { username: 'admin' }, blocks: [reply], created: 1 }]
  expect((await agent.see(drafts)).body).toMatchObject(shown)
  expect(await quoin.manage('GET', drafts)).toMatchObject(shown)
  await agent.draft([{ path, text: '{ "blocks": 7' }])
  const all = blocks.map(guidOf)
  expect(await quoin.manage('GET', drafts)).toMatchObject([
    { guid, blocks: expect.arrayContaining(all), created: 0 },
  ])
  await quoin.manage('DELETE', `/_system/drafts/${guid}`)
  expect(await quoin.manage('GET', drafts)).toEqual([])
})
