/** Blueprints answer the same before and after some of their blocks became a function in the studio. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeBlock } from '../../src/blocks/describe-block.ts'
import { findBlocks } from '../../src/blocks/load-blocks.ts'
import { stageEdits } from '../../src/flows/blueprints/block-edits.ts'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { saveStaged } from '../../src/flows/blueprints/settle-staged.ts'
import { blockRecords, savedBlocks } from '../../src/records/records.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { findAll } from '../../src/storage/find-documents.ts'
import { extractFunction } from '../../src/studio/editor/extract/extract-function.ts'
import { catalogueOf } from '../../src/studio/editor/model/block-description.ts'
import type { Flow } from '../../src/studio/editor/model/flow.ts'
import { textAt } from '../json-at.ts'
import { type ManagementServer, openManagementServer } from '../management-server.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const by = { guid: '', username: 'admin' }
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.database.ensure('goods')
  const session = fixture.database.session()
  for (const [title, kind, price] of [
    ['Cup', 'a', 3],
    ['Pot', 'b', 20],
    ['Jug', 'b', 8],
  ] as const)
    await session.create('goods', setFields({ title, kind, price }))
  await session.transaction.commit()
})
afterAll(() => fixture.close())

const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] })
const store = { type: 'storage', fields: { storage: 'goods' } }

async function answers(paths: readonly string[]) {
  const replies = []
  for (const path of paths) {
    const { status, body } = await fixture.send('GET', path, '')
    replies.push({ status, body })
  }
  return replies
}

/** Serves the blueprint, makes the blocks of these names a function, serves that, and gives both answers. */
async function extracted(blocks: JsonObject, chosen: readonly string[], paths: readonly string[]) {
  const { flows } = fixture
  const guid = await installBlueprint(flows, { name: 'Test', blocks }, by)
  const session = flows.records.database.session()
  const saved = await savedBlocks(flows.records, session, guid)
  const flow: Flow = new Map(saved.map(({ guid: block, ...content }) => [block, content]))
  const before = await answers(paths)
  const selection = saved.filter(({ name = '' }) => chosen.includes(name)).map((block) => block.guid)
  const made = extractFunction(flow, catalogue, new Set(selection), 'part', flows.newGuid)
  if ('refused' in made) throw new Error(made.refused)
  const records = await blockRecords(session, guid)
  const hashes = new Map(records.map((record) => [guidOf(record), textAt(record, '_meta', 'update_hash')]))
  const edits = [...made.flow]
    .filter(([block, content]) => content !== flow.get(block))
    .map(([block, content]) => ({ guid: block, update_hash: hashes.get(block) ?? null, content }))
  await stageEdits(flows.records, flows.catalogue, guid, edits, by)
  await saveStaged(flows.records, guid, by)
  await flows.deployments.activate(guid, { ...by, mayTakeAccountPages: true, lacks: () => false })
  const after = await answers(paths)
  await flows.deployments.deactivate(guid, by)
  return { before, after, made }
}

test('steps with a storage, parameters and two results, from expressions and wires', async () => {
  const blocks = {
    on: get('one/{kind}'),
    store,
    search: {
      type: 'function_search',
      in: {
        flow: '@on.flow',
        storage: '@store.storage',
        where: '=doc.kind == params.kind && doc.price > number(query.over ?? 0)',
      },
    },
    first: {
      type: 'function_search',
      in: { flow: '@search.flow', storage: '@store.storage', where: '=doc.price <= search.documents.length' },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: {
        flow: '@first.flow',
        value: '=({ all: search.documents.map((one) => one.title), cheap: first.documents.length })',
      },
    },
  }
  const paths = ['/one/a', '/one/b', '/one/b?over=10', '/one/c']
  const { before, after, made } = await extracted(blocks, ['search', 'first'], paths)
  expect(before.map(({ body }) => body)).toEqual([
    { all: ['Cup'], cheap: 0 },
    { all: ['Jug', 'Pot'], cheap: 0 },
    { all: ['Pot'], cheap: 0 },
    { all: [], cheap: 0 },
  ])
  expect(after).toEqual(before)
  expect([made.takes, made.returns]).toEqual([
    ['kind', 'query'],
    ['documents', 'documents_2'],
  ])
})

test('one result goes on by a wire, and steps that branch and rejoin come back in one place', async () => {
  const blocks = {
    on: get('two/{price}'),
    price: { type: 'httpconnection_get_params', in: { connection: '@on.connection', field: 'price' } },
    store,
    dear: { type: 'branch', in: { flow: '@on.flow', condition: '=number(params.price) > 5' } },
    log: { type: 'function_console_log', in: { flow: '@dear.true', value: 'dear' } },
    search: {
      type: 'function_search',
      in: {
        flow: ['@log.flow', '@dear.false'],
        storage: '@store.storage',
        where: '=doc.price > number(price.value)',
      },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
  }
  const { before, after, made } = await extracted(
    blocks,
    ['dear', 'log', 'search', 'price'],
    ['/two/5', '/two/9', '/two/99'],
  )
  expect(before.map(({ body }) => (Array.isArray(body) ? body.length : body))).toEqual([2, 1, 0])
  expect(after).toEqual(before)
  expect([made.takes, made.returns]).toEqual([['price'], ['documents']])
})

test('the end of a flow with its replies, failures and ways that are not wired', async () => {
  const blocks = {
    on: get('three/{guid}'),
    store,
    check: { type: 'branch', in: { flow: '@on.flow', condition: '=params.guid == "teapot"' } },
    fail: { type: 'fail', in: { flow: '@check.true', status: 418, message: 'short and stout' } },
    read: {
      type: 'function_get_document',
      in: { flow: '@check.false', storage: '@store.storage', guid: '=params.guid' },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@read.flow', code: 203, value: '@read.document' },
    },
  }
  const [known] = await findAll(fixture.database.session(), 'goods', { kind: 'all' }, 1)
  const { before, after } = await extracted(
    blocks,
    ['check', 'fail', 'read', 'reply'],
    [`/three/${known ? guidOf(known) : ''}`, '/three/none', '/three/teapot'],
  )
  expect(before.map(({ status }) => status)).toEqual([203, 404, 418])
  expect(after).toEqual(before)
})

test('a loop with its steps, called from a loop', async () => {
  const blocks = {
    on: get('four'),
    outer: { type: 'each', in: { flow: '@on.flow', list: '=["a", "b"]' } },
    store,
    found: {
      type: 'function_search',
      in: { flow: '@outer.each', storage: '@store.storage', where: '=doc.kind == item' },
    },
    inner: { type: 'each', in: { flow: '@found.flow', list: '@found.documents' } },
    note: { type: 'function_console_log', in: { flow: '@inner.each', value: '=item.title' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@outer.flow', value: '=outer.count' } },
  }
  const { before, after, made } = await extracted(blocks, ['found', 'inner', 'note'], ['/four'])
  expect(before).toEqual([{ status: 200, body: 2 }])
  expect(after).toEqual(before)
  expect(made.takes).toEqual(['item'])
})
