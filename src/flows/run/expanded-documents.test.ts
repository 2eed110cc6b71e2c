/** Documents with those that they refer to, through flows: what is read, how often, and which replies are kept. */

import { randomFillSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { bareRunServices } from '../../../test/bare-services.ts'
import { requestWith } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { createField, updateField } from '../../records/fields/field-records.ts'
import { openFieldRules } from '../../records/fields/field-rules.ts'
import { validatedDatabase } from '../../records/fields/validated-database.ts'
import { openRecords } from '../../records/records.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, type Search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { SerializationConflict } from '../../storage/unit-of-work.ts'
import type { ValidatedDatabase } from '../../storage/validated.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { installBlueprint } from '../blueprints/install-blueprint.ts'
import { type Flows, openFlows } from '../flows.ts'
import { type Runs, runPipeline } from '../run-pipeline.ts'

const by = { guid: 'u', username: 'ann' }
const expand = '=query.expand ? [query.expand] : ["customer", "payer"]'
const list = {
  list: { type: 'on_startup_register_uri_get', in: { uri: 'orders' }, scopes: ['*public'] },
  found: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: 'orders', sort: 'n', limit: '=number(query.limit ?? "100")', expand },
  },
  listed: { type: 'httpconnection_set_json', in: { flow: '@found.flow', value: '@found.documents' } },
}
const first = {
  list: { type: 'on_startup_register_uri_get', in: { uri: 'first' }, scopes: ['*public'] },
  found: {
    type: 'function_search_single_result',
    in: { flow: '@list.flow', storage: 'orders', sort: 'n', expand },
  },
  listed: { type: 'httpconnection_set_json', in: { flow: '@found.flow', value: '@found.document' } },
}
const one = {
  get: { type: 'on_startup_register_uri_get', in: { uri: 'one' }, scopes: ['*public'] },
  found: {
    type: 'function_get_document',
    in: { flow: '@get.flow', storage: 'orders', guid: '=query.guid', expand },
  },
  replied: { type: 'httpconnection_set_json', in: { flow: '@found.flow', value: '@found.document' } },
}

class CountingSession extends TransparentSession {
  override get(storage: string, guid: string) {
    reads.push(`get ${storage}`)
    return super.get(storage, guid)
  }

  override find(storage: string, search: Search) {
    reads.push(`find ${storage}`)
    return super.find(storage, search)
  }

  override findWithTotal(storage: string, search: Search) {
    reads.push(`find ${storage}`)
    return super.findWithTotal(storage, search)
  }
}

const reads: string[] = []
let fixture: TestDatabase
let database: ValidatedDatabase
let flows: Flows
let runs: Runs
let customerField: string
let payerField: string

beforeEach(async () => {
  fixture = await openTestDatabase()
  const rules = await openFieldRules(fixture.database)
  const validated = validatedDatabase(fixture.database, rules, {
    clock: fixture.clock,
    random: () => undefined,
  })
  database = { ...validated, session: (origin): Session => new CountingSession(validated.session(origin)) }
  for (const name of ['customers', 'orders']) await database.ensure(name)
  const field = async (name: string) =>
    createField(
      database,
      { name, type: 'reference', storage: 'orders', reference: { storage: 'customers', on_delete: 'clear' } },
      by,
    )
  customerField = guidOf(await field('customer'))
  payerField = guidOf(await field('payer'))
  flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(database, fixture.clock),
    catalogue: await loadBlocks(),
    random: randomFillSync,
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => [],
    reservedRoots: new Set(),
    fields: rules,
  })
  runs = runPipeline(flows)
})
afterEach(async () => {
  await flows.close()
  await fixture.close()
})

const install = (blocks: object) => installBlueprint(flows, { name: 'Test', blocks }, by)
const create = (storage: string, fields: JsonObject) =>
  transact(fixture.database, async (session) =>
    guidOf(documentOf(await session.create(storage, setFields(fields)))),
  )
const change = (guid: string, fields: JsonObject) =>
  transact(database, (session) => session.update('customers', guid, setFields(fields)))

async function send(blueprint: string, query: RunRequest['query'] = {}) {
  const [endpoint] = flows.live.table().blueprints.get(blueprint)?.compiled.endpoints ?? []
  if (!endpoint) throw new Error('The blueprint has no endpoint.')
  const request = requestWith({ query })
  const replies: Reply[] = []
  reads.length = 0
  const onReply = (reply: Reply) => void replies.push(reply)
  const { error } = await runs.run({
    flow: endpoint.flow,
    blueprint,
    input: endpoint.start(request),
    request,
    onReply,
  })
  return { error, reply: JSON.parse(JSON.stringify(replies[0]?.value ?? null)), reads: [...reads] }
}

describe('expand', () => {
  test('adds what all documents of a page refer to, with one search, and null for what is not there', async () => {
    const customers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => create('customers', { name: `Customer ${n}` })),
    )
    for (const [n, customer] of customers.entries())
      await create('orders', { n, customer, payer: customers[(n + 1) % 20] ?? null })
    await create('orders', { n: 20, customer: null })
    const gone = customers[0] ?? ''
    await transact(fixture.database, (session) => session.setRemoved('customers', gone, true))
    const { reply, reads: made } = await send(await install(list))
    expect(made).toEqual(['find orders', 'find customers'])
    expect(reply).toHaveLength(21)
    expect(reply[0]).toMatchObject({
      n: 0,
      customer: gone,
      _expand: { customer: null, payer: { name: 'Customer 1', _meta: { guid: customers[1] } } },
    })
    expect(reply[7]).toMatchObject({
      _expand: { customer: { name: 'Customer 7' }, payer: { name: 'Customer 8' } },
    })
    expect(reply[20]).toMatchObject({ _expand: { customer: null, payer: null } })
  })

  test('of one document, found or read by guid', async () => {
    const customer = await create('customers', { name: 'Ann' })
    const guid = await create('orders', { n: 0, customer })
    const requested = { n: 0, _expand: { customer: { name: 'Ann' }, payer: null } }
    expect(await send(await install(first))).toMatchObject({
      reply: requested,
      reads: ['find orders', 'find customers'],
    })
    expect(await send(await install(one), { guid })).toMatchObject({
      reply: requested,
      reads: ['get orders', 'find customers'],
    })
  })

  test.each<[string, string, JsonObject, string]>([
    ['a search', 'function_search', { sort: 'customer.name desc' }, 'sort'],
    ['a search of one', 'function_search_single_result', { sort: 'n, payer.name' }, 'sort'],
    ['a group', 'function_aggregate', { group: ['customer.name'] }, 'group'],
    ['a part of a date', 'function_aggregate', { group: [{ field: 'customer.at', part: 'month' }] }, 'group'],
    ['a figure', 'function_aggregate', { group: ['n'], values: [{ sum: 'payer.balance' }] }, 'values'],
  ])(
    'refuses %s by a field of another document: in a deploy, and in runs of what was deployed before',
    async (_what, type, pins, pin) => {
      await create('orders', { n: 0, customer: await create('customers', { name: 'Ann' }) })
      const blocks = {
        list: { type: 'on_startup_register_uri_get', in: { uri: 'wide' }, scopes: ['*public'] },
        found: { type, in: { flow: '@list.flow', storage: 'orders', ...pins } },
        listed: { type: 'httpconnection_set_json', in: { flow: '@found.flow', value: 'done' } },
      }
      await expect(install(blocks)).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        problems: [{ message: expect.stringContaining('refers to the storage customers') }],
      })
      const field = JSON.stringify(pins).includes('customer') ? customerField : payerField
      await updateField(database, field, { reference: null }, by)
      const blueprint = await install(blocks)
      expect((await send(blueprint)).error).toBeUndefined()
      await updateField(database, field, { reference: { storage: 'customers', on_delete: 'refuse' } }, by)
      const { error } = await send(blueprint)
      expect(error?.cause).toMatchObject({
        pin,
        message: expect.stringContaining('refers to the storage customers'),
      })
    },
  )

  test('of a page without documents reads nothing more', async () => {
    expect(await send(await install(list))).toMatchObject({ reply: [], reads: ['find orders'] })
  })

  test.each<[string, RunRequest['query'], string]>([
    ['a field that is no reference', { expand: 'n' }, 'names no reference of the storage orders: n'],
    ['a page that is too long', { limit: '1001' }, 'needs a limit of at most 1,000'],
  ])('refuses %s', async (_what, query, message) => {
    await create('orders', { n: 0 })
    const { error } = await send(await install(list), query)
    expect(error).toMatchObject({ status: 400 })
    expect(String(error?.message)).toContain(message)
  })

  test('is made again when what is referred to changes, and when the field does', async () => {
    const [ann, bob] = [
      await create('customers', { name: 'Ann' }),
      await create('customers', { name: 'Bob' }),
    ]
    await create('orders', { n: 0, customer: ann })
    const blueprint = await install(list)
    const named = async () => {
      const { reply, error } = await send(blueprint, { expand: 'customer' })
      return error ? error.status : (reply[0]._expand.customer?.name ?? null)
    }
    for (let n = 0; n < 3; n++) expect(await named()).toBe('Ann')
    // PostgreSQL keeps no replies.
    expect(reads).toHaveLength(inject('engine') === 'postgres' ? 2 : 0)
    await change(bob, { name: 'Bert' })
    expect(await named()).toBe('Ann')
    await change(ann, { name: 'Anna' })
    for (let n = 0; n < 3; n++) expect(await named()).toBe('Anna')
    await transact(database, (session) => session.setRemoved('customers', ann, true))
    for (let n = 0; n < 3; n++) expect(await named()).toBe(null)
    await updateField(database, customerField, { reference: null }, by)
    for (let n = 0; n < 3; n++) expect(await named()).toBe(400)
  })
})

const through = {
  list: { type: 'on_startup_register_uri_get', in: { uri: 'named' }, scopes: ['*public'] },
  found: {
    type: 'function_search',
    in: {
      flow: '@list.flow',
      storage: 'orders',
      sort: 'n',
      where: '=doc.customer.name == maybe(query.name) && doc.n >= 0',
    },
  },
  listed: {
    type: 'httpconnection_set_json',
    in: { flow: '@found.flow', value: '={ total: found.total, n: found.documents.map(order => order.n) }' },
  },
}

describe('where', () => {
  test('asks for fields of what documents refer to, in one search', async () => {
    const [ann, bob] = [
      await create('customers', { name: 'Ann' }),
      await create('customers', { name: 'Bob' }),
    ]
    for (const [n, customer] of [ann, bob, ann, null].entries()) await create('orders', { n, customer })
    const blueprint = await install(through)
    expect(await send(blueprint, { name: 'Ann' })).toMatchObject({
      reply: { total: 2, n: [0, 2] },
      reads: ['find orders'],
    })
    expect((await send(blueprint)).reply).toEqual({ total: 4, n: [0, 1, 2, 3] })
    const indexes = (storage: string) =>
      database.capabilities.indexes.of(storage).indexes.map(({ fields }) => fields)
    expect(indexes('customers')).toContainEqual(['name'])
    expect(indexes('orders').flat()).not.toContain('customer.name')
  })

  test('is asked again when what is referred to changes', async () => {
    const ann = await create('customers', { name: 'Ann' })
    await create('orders', { n: 0, customer: ann })
    const blueprint = await install(through)
    const total = async (name: string) => (await send(blueprint, { name })).reply.total
    for (let n = 0; n < 3; n++) expect([await total('Ann'), await total('Anna')]).toEqual([1, 0])
    await change(ann, { name: 'Anna' })
    for (let n = 0; n < 3; n++) expect([await total('Ann'), await total('Anna')]).toEqual([0, 1])
    await transact(database, (session) => session.setRemoved('customers', ann, true))
    for (let n = 0; n < 3; n++) expect([await total('Ann'), await total('Anna')]).toEqual([0, 0])
  })

  test('of a unit of work begins once more when what is referred to has changed', async () => {
    const ann = await create('customers', { name: 'Ann' })
    await create('orders', { n: 0, customer: ann })
    const term = { kind: 'term', field: 'name', value: 'Ann' } as const
    const query = { kind: 'through', field: 'customer', storage: 'customers', query: term } as const
    const unit = database.session({ unit: { attempt: 1 } })
    expect(await unit.count('orders', query)).toBe(1)
    await change(ann, { name: 'Anna' })
    // On PostgreSQL only units conflict, when both have read what the other one writes.
    if (inject('engine') === 'sqlite')
      await expect(async () => unit.create('orders', setFields({ n: 1 }))).rejects.toBeInstanceOf(
        SerializationConflict,
      )
    await unit.transaction.rollback()
  })

  test('of an aggregate asks so too, and follows what changes', async () => {
    const [ann, bob] = [
      await create('customers', { name: 'Ann' }),
      await create('customers', { name: 'Bob' }),
    ]
    for (const [n, customer] of [ann, bob, ann].entries()) await create('orders', { n, customer })
    const values = [{ count: '*', as: 'count' }]
    const blueprint = await install({
      list: { ...through.list, in: { uri: 'counted' } },
      found: {
        type: 'function_aggregate',
        in: { flow: '@list.flow', storage: 'orders', values, where: '=doc.customer.name == "Ann"' },
      },
      listed: { ...through.listed, in: { flow: '@found.flow', value: '@found.rows' } },
    })
    for (let n = 0; n < 3; n++) expect((await send(blueprint)).reply).toEqual([{ count: 2 }])
    await change(bob, { name: 'Ann' })
    for (let n = 0; n < 3; n++) expect((await send(blueprint)).reply).toEqual([{ count: 3 }])
  })

  test('of changes of many is refused by a deploy', async () => {
    const refused = install({
      list: { type: 'on_startup_register_uri_delete', in: { uri: 'many' }, scopes: ['*public'] },
      found: {
        type: 'function_delete_many',
        in: { flow: '@list.flow', storage: 'orders', where: '=doc.customer.name != "Bob"' },
      },
      listed: { ...through.listed, in: { flow: '@found.flow', value: '@found.count' } },
    })
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_FAILED', problems: [{ pin: 'where' }] })
  })

  test('refuses free text and fields of two documents', async () => {
    for (const [at, where] of [
      '=search(doc.customer.name, "a")',
      '=doc.customer.name == doc.name',
    ].entries()) {
      const { list: get, found, listed } = through
      const blueprint = await install({
        list: { ...get, in: { uri: `refused${at}` } },
        found: { ...found, in: { ...found.in, where } },
        listed,
      })
      expect((await send(blueprint)).error).toMatchObject({ status: 500 })
    }
  })
})

describe('blocks that write', () => {
  const post = {
    list: { type: 'on_startup_register_uri_post', in: { uri: 'made' }, scopes: ['*public'] },
    made: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@list.flow', storage: 'orders', set: '={ customer: query.guid }' },
    },
    done: { type: 'httpconnection_set_json', in: { flow: '@made.flow', value: '@made.document' } },
  }
  const remove = (type: string) => ({
    list: { type: 'on_startup_register_uri_delete', in: { uri: type }, scopes: ['*public'] },
    gone: { type, in: { flow: '@list.flow', storage: 'customers', guid: '=query.guid' } },
    done: { type: 'httpconnection_set_json', in: { flow: '@gone.flow', value: '@gone.document' } },
  })

  test('are refused with 400 for a value that names no document, and with 409 for one that is referred to', async () => {
    await updateField(
      database,
      customerField,
      { reference: { storage: 'customers', on_delete: 'refuse' } },
      by,
    )
    const guid = await create('customers', { name: 'Ann' })
    const blueprint = await install(post)
    expect((await send(blueprint, { guid: `${guid.slice(0, -1)}x` })).error).toMatchObject({
      status: 400,
      fields: ['customer'],
    })
    expect((await send(blueprint, { guid })).reply).toMatchObject({ customer: guid })
    for (const type of ['function_remove_document', 'function_delete_document'])
      expect((await send(await install(remove(type)), { guid })).error).toMatchObject({
        status: 409,
        message: expect.stringContaining('1 document of the storage orders refers'),
      })
    expect(await database.session().count('customers', matchAll)).toBe(1)
  })
})
