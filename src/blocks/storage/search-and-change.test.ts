/** The blocks of this folder one after another, as a flow would run them, on a real database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { noon, requestWith, runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestClock } from '../../../test/test-database.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import type { FlowBlock, ValueBlock } from '../block.ts'
import { documentGuid } from './document-queries.ts'
import createDocument from './function_create_document_from_mutations.ts'
import deleteDocument from './function_delete_document.ts'
import getDocument from './function_get_document.ts'
import removeDocument from './function_remove_document.ts'
import functionSearch from './function_search.ts'
import updateDocument from './function_update_document_mutations.ts'
import incrementByField from './mutations_increment_by_field.ts'
import setFields from './mutations_set_bp_field_multiple.ts'
import setCustomField from './mutations_set_custom_field.ts'
import queryAnd from './query_and.ts'
import queryBoolFilter from './query_bool_filter.ts'
import queryBoolMust from './query_bool_must.ts'
import queryBoolRangeField from './query_bool_range_field.ts'
import freeText from './query_bool_simple_query_string_field.ts'
import queryBoolTermFields from './query_bool_term_fields.ts'
import querySortField from './query_sort_field.ts'
import storageBlock from './storage.ts'

let database: Database
let clock: TestClock
let close: () => Promise<void>
let session: Session

beforeAll(async () => {
  ;({ database, clock, close } = await openTestDatabase())
  clock.now = noon
})

beforeEach(async () => {
  if (database.has('tasks')) await database.drop('tasks')
  await database.ensure('tasks', { text: true })
  session = database.session()
})

afterAll(() => close())

type Inputs = Readonly<Record<string, unknown>>

/** What a value block gives on its only out-pin. */
async function give(block: ValueBlock, inputs: Inputs, more: Parameters<typeof runBlock>[1] = {}) {
  const { outputs } = await runBlock(block, { ...more, inputs })
  return Object.values(outputs)[0]
}

async function step(block: FlowBlock, inputs: Inputs) {
  const tasks = await give(storageBlock, {}, { fields: { storage: 'tasks' } })
  const { outputs, next } = await runBlock(block, { session, inputs: { storage: tasks, ...inputs } })
  return { ...outputs, next }
}

async function add(object: JsonObject): Promise<JsonObject> {
  const mutations = await give(setFields, { object })
  const { outputs } = await runBlock(createDocument, { session, inputs: { storage: 'tasks', mutations } })
  await session.transaction.commit()
  clock.now += 1000
  return outputs.document instanceof StoredJson ? documentOf(outputs.document) : {}
}

/** Titles of what a search finds, in order. */
async function titles(inputs: Inputs): Promise<JsonValue[]> {
  const { outputs } = await runBlock(functionSearch, { session, inputs: { storage: 'tasks', ...inputs } })
  if (!(outputs.documents instanceof StoredJson)) throw new TypeError('No documents.')
  const { value } = outputs.documents
  return Array.isArray(value) ? value.map((document: JsonObject) => document.title ?? null) : []
}

describe('a document from its creation to its end', () => {
  test('create, read, search, update, remove, delete', async () => {
    const request = requestWith({
      body: { title: 'Roof', status: 'open', admin: true, _meta: { guid: 'mine' } },
    })
    const set = await give(setFields, { object: request.body }, { fields: { fields: ['title', 'status'] } })
    const mutations = await give(incrementByField, { mutations: set, field: 'version' })
    const document = documentOf(documentIn(await step(createDocument, { mutations })))
    const guid = documentGuid({ guid: undefined, document })
    expect(guid).not.toBe('mine')
    const { _meta, ...body } = document
    expect(body).toEqual({ title: 'Roof', status: 'open', version: 1 })
    await session.transaction.commit()

    expect(await step(getDocument, { guid })).toMatchObject({ document: { value: document }, next: 'flow' })
    const open = await give(queryBoolTermFields, { field: 'status', value: 'open' })
    expect(await titles({ query: open })).toEqual(['Roof'])

    const done = await give(setCustomField, { field: 'status', value: 'done' })
    const change = await give(incrementByField, { mutations: done, field: 'version' })
    const updated = await step(updateDocument, { document, mutations: change })
    expect(updated).toMatchObject({
      document: { value: { title: 'Roof', status: 'done', version: 2 } },
      next: 'flow',
    })
    await session.transaction.commit()
    expect(await titles({ query: open })).toEqual([])

    const stale = JSON.parse(JSON.stringify(_meta)).update_hash
    const late = await step(updateDocument, { guid, mutations: change, update_hash: stale })
    expect(late).toMatchObject({ document: { value: { version: 2 } }, next: 'conflict' })

    expect((await step(removeDocument, { document })).next).toBe('flow')
    await session.transaction.commit()
    expect(await titles({})).toEqual([])
    expect(await titles({ include_removed: true })).toEqual(['Roof'])
    expect((await step(getDocument, { guid })).next).toBe('not_found')
    expect((await step(updateDocument, { guid, mutations: change })).next).toBe('not_found')
    expect((await step(removeDocument, { guid })).next).toBe('not_found')

    expect((await step(deleteDocument, { guid })).next).toBe('flow')
    await session.transaction.commit()
    expect(await titles({ include_removed: true })).toEqual([])
    expect((await step(deleteDocument, { guid })).next).toBe('not_found')
  })

  test('nothing of a run that fails halfway', async () => {
    const mutations = await give(setFields, { object: { title: 'Roof' } })
    await step(createDocument, { mutations })
    const bad = await give(incrementByField, { field: 'title', mutations })
    await expect(step(createDocument, { mutations: bad })).rejects.toMatchObject({ fields: ['title'] })
    await session.transaction.rollback()
    expect(await titles({ include_removed: true })).toEqual([])
  })
})

describe('searches made of query blocks', () => {
  beforeEach(async () => {
    await add({ title: 'Roof', status: 'open', priority: 5, tags: ['house', 'late'], due: '2026-01-20' })
    await add({ title: 'Door', status: 'done', priority: 1, tags: ['house'], due: '2026-01-31T08:00:00Z' })
    await add({ title: 'Wheel', status: 'open', priority: 3, due: Date.parse('2026-01-31T15:00Z') / 1000 })
    await add({ title: 'Bell', status: '', priority: '5', house: true })
  })

  const named = { field: 'title' }

  test.each<[string, [ValueBlock, Inputs][], JsonValue[]]>([
    ['an exact value', [[queryBoolTermFields, { field: 'status', value: 'open' }]], ['Roof', 'Wheel']],
    ['one of several', [[queryBoolTermFields, { field: 'status', value: ['done', 'x'] }]], ['Door']],
    ['an item of a list', [[queryBoolTermFields, { field: 'tags', value: 'house' }]], ['Door', 'Roof']],
    ['a number', [[queryBoolTermFields, { field: 'priority', value: 5 }]], ['Roof']],
    [
      'a number that came as text',
      [[queryBoolTermFields, { field: 'priority', value: '5' }]],
      ['Bell', 'Roof'],
    ],
    ['a boolean that came as text', [[queryBoolTermFields, { field: 'house', value: 'true' }]], ['Bell']],
    ['what is empty or missing', [[queryBoolTermFields, { field: 'status' }]], ['Bell']],
    ['what is missing', [[queryBoolTermFields, { field: 'due', value: [] }]], ['Bell']],
    [
      'all when an optional parameter is not there',
      [[queryBoolTermFields, { field: 'status', value: undefined, ignore_empty: true }]],
      ['Bell', 'Door', 'Roof', 'Wheel'],
    ],
    [
      'two things at once',
      [
        [queryBoolTermFields, { field: 'status', value: 'open' }],
        [queryBoolRangeField, { field: 'priority', gte: '4' }],
      ],
      ['Roof'],
    ],
    ['one of several terms', [[queryBoolMust, { field: 'priority', terms: ['1', '3'] }]], ['Door', 'Wheel']],
    ['a range of numbers', [[queryBoolRangeField, { field: 'priority', gt: 1, lte: 3 }]], ['Wheel']],
    [
      'today, however it is stored',
      [[queryBoolRangeField, { field: 'due', gte: 'now/d', lt: 'now+1d/d' }]],
      ['Door', 'Wheel'],
    ],
    ['until today', [[queryBoolRangeField, { field: 'due', lte: 'now/d' }]], ['Door', 'Roof', 'Wheel']],
    ['before today', [[queryBoolRangeField, { field: 'due', lt: '2026-01-31' }]], ['Roof']],
    ['words', [[freeText, { value: 'roof | bell' }]], ['Bell', 'Roof']],
    ['words in a field', [[freeText, { field: 'tags', value: 'house' }]], ['Door', 'Roof']],
    ['the beginning of a word', [[freeText, { value: 'whe*' }]], ['Wheel']],
    ['all without words', [[freeText, { value: '' }]], ['Bell', 'Door', 'Roof', 'Wheel']],
    ['nothing without words if that counts', [[freeText, { value: '', ignore_empty: false }]], []],
  ])('finds %s', async (_name, blocks, found) => {
    const queries = await Promise.all(blocks.map(([block, inputs]) => give(block, inputs)))
    const sort = await give(querySortField, named)
    for (const combine of [queryAnd, queryBoolFilter])
      expect(await titles({ query: await give(combine, { queries }), sort })).toEqual(found)
  })

  test('finds by the time of creation', async () => {
    const since = (seconds: number) => new Date(clock.now - seconds * 1000).toISOString()
    for (const field of ['_meta.created', '_meta.cms']) {
      const query = await give(queryBoolRangeField, { field, gte: since(2), lt: since(0) })
      expect(await titles({ query })).toEqual(['Bell', 'Wheel'])
    }
  })

  test('sorts by several fields, and puts what is missing where it is asked to', async () => {
    const byStatus = await give(querySortField, { field: 'status', order: 'desc' })
    const byPriority = await give(querySortField, { field: 'priority', order: 'desc' })
    expect(await titles({ sort: [byStatus, byPriority] })).toEqual(['Roof', 'Wheel', 'Door', 'Bell'])
    const byTags = await give(querySortField, { field: 'house', order: 'asc', missing: 'first' })
    expect(await titles({ sort: [byTags, await give(querySortField, named)] })).toEqual([
      'Door',
      'Roof',
      'Wheel',
      'Bell',
    ])
  })

  test('a filter leaves the order to the words beside it', async () => {
    await add({ title: 'Roof roof roof', status: 'open' })
    await add({ title: 'Something long with one roof in it', status: 'open' })
    const text = await give(freeText, { value: 'roof' })
    const open = await give(queryBoolFilter, {
      queries: [await give(queryBoolTermFields, { field: 'status', value: 'open' })],
    })
    const found = await titles({ query: await give(queryAnd, { queries: [text, open] }) })
    expect(found).toHaveLength(3)
    expect(found).toEqual(await titles({ query: text }))
    // Inside a filter words do not rank: newest first.
    const unranked = await titles({ query: await give(queryBoolFilter, { queries: [text] }) })
    expect(unranked).toEqual(['Something long with one roof in it', 'Roof roof roof', 'Roof'])
  })

  test('a search that asks too much is refused by the storage', async () => {
    const terms = Array.from({ length: 10_001 }, (_, n) => `t${n}`)
    const query = await give(queryBoolMust, { field: 'status', terms })
    await expect(titles({ query })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
  })
})

function documentIn(outputs: { readonly next: string | null; readonly document?: unknown }): StoredJson {
  if (!(outputs.document instanceof StoredJson)) throw new TypeError('No document.')
  return outputs.document
}
