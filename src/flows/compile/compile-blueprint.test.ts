import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture, replyWith } from '../../../test/run-flow.ts'
import type { FieldType } from '../../shared/fields/field-type.ts'
import type { CollationName } from '../../shared/texts/collations.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const get = { type: 'on_startup_register_uri_get', in: { uri: 'test' } }
const storage = { type: 'storage', fields: { storage: 'things' } }

describe('values behind values', () => {
  /** `length` blocks, each with the value of the one before. */
  const chain = (length: number, value: (before: string) => string): FlowBlocks =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => [
        `v${at}`,
        { type: 'value_default', in: { value: at === 0 ? 1 : value(`v${at - 1}`) } },
      ]),
    )

  test.each<[string, (before: string) => string]>([
    ['wires', (before) => `@${before}.value`],
    ['expressions', (before) => `=blocks.${before}.value ?? 0`],
  ])('are a problem from 501 on, by %s, however many there are', async (_name, value) => {
    const message = /more than 500 blocks, one behind the other/
    for (const length of [501, 1_400, 5_000]) {
      const { problems } = fixture.compile(chain(length, value))
      expect(problems).toEqual([{ block: expect.any(String), message: expect.stringMatching(message) }])
    }
    expect(fixture.compile(chain(200, value)).problems).toEqual([])
  })
})

describe('problems, with block and pin', () => {
  const cases: [string, FlowBlocks, [block: string, pin: string | undefined, message: RegExp][]][] = [
    ['a type that is not there', { a: { type: 'nope' } }, [['a', undefined, /no block of the type "nope"/]]],
    [
      'a pin that is not there',
      { a: { type: 'value_default', in: { nope: 1 } } },
      [['a', 'nope', /no in-pin nope/]],
    ],
    [
      'a wire from a pin that is not there',
      { a: { type: 'value_default' }, b: { type: 'value_default', in: { value: '@a.nope' } } },
      [['b', 'value', /comes from nope/]],
    ],
    [
      'types that cannot convert',
      { storage, a: { type: 'value_default', in: { value: '@storage.storage' } } },
      [['a', 'value', /value pin cannot take what a storage pin gives/]],
    ],
    [
      'a flow wire on a value pin',
      { get, a: { type: 'value_default', in: { value: '@get.flow' } } },
      [['a', 'value', /cannot take what a flow pin gives/]],
    ],
    [
      'a literal that does not fit',
      {
        get,
        storage,
        a: { type: 'function_search', in: { flow: '@get.flow', storage: '@storage.storage', limit: 'many' } },
      },
      [['a', 'limit', /limit must be a whole number/]],
    ],
    [
      'a literal where only a wire can be',
      {
        get,
        storage,
        a: { type: 'function_search', in: { flow: '@get.flow', storage: '@storage.storage', query: 'a' } },
      },
      [['a', 'query', /cannot hold a value/]],
    ],
    [
      'a storage that cannot be',
      { get, a: { type: 'function_search', in: { flow: '@get.flow', storage: 'My Things' } } },
      [['a', 'storage', /storage must be 1 to 63/]],
    ],
    [
      'a storage of the cluster',
      { get, a: { type: 'function_search', in: { flow: '@get.flow', storage: '_user' } } },
      [['a', 'storage', /starts with _/]],
    ],
    [
      'an order by what is no field',
      {
        get,
        a: { type: 'function_search', in: { flow: '@get.flow', storage: 'things', sort: 'due, a..b' } },
      },
      [['a', 'sort', /sort must be names of fields, such as due/]],
    ],
    [
      'two wires on a pin for one',
      { a: { type: 'value_default' }, b: { type: 'value_default', in: { value: ['@a.value', '@a.value'] } } },
      [['b', 'value', /takes one wire and has 2/]],
    ],
    [
      'a pin that is needed and a setting that is not set',
      { get, storage: { type: 'storage' }, a: { type: 'function_get_document', in: { flow: '@get.flow' } } },
      [
        ['storage', 'storage', /setting storage is not set/],
        ['a', 'storage', /storage is needed/],
        ['a', 'guid', /guid is needed/],
      ],
    ],
    [
      'a pin of the block’s own taken by a setting',
      { a: { type: 'object_update_fields', fields: { fields: ['object'] } } },
      [['a', 'object', /choose another name/]],
    ],
    [
      'values in a circle',
      {
        a: { type: 'value_default', in: { value: '@b.value' } },
        b: { type: 'value_default', in: { value: '@a.value' } },
      },
      [['b', 'value', /depends on itself/]],
    ],
    [
      'an item read outside its frame',
      replyWith('@map.item', {
        map: { type: 'array_map', in: { array: '@sent.body' } },
        sent: { type: 'httpconnection_current_request' },
      }),
      [['reply', 'value', /exists only inside array_map/]],
    ],
    [
      'a URI that depends on a run',
      { sent: { type: 'httpconnection_get_params' }, get: { ...get, in: { uri: '@sent.value' } } },
      [['get', 'uri', /must not depend on a run/]],
    ],
    [
      'a URI that cannot be',
      { get: { ...get, in: { uri: 'a//b' } } },
      [['get', 'uri', /between its slashes/]],
    ],
    [
      'one URI twice, under other parameter names',
      { one: { ...get, in: { uri: 'a/{x}' } }, two: { ...get, in: { uri: 'a/:y' } } },
      [['two', 'uri', /taken by the block one/]],
    ],
    [
      'one function name twice',
      {
        one: { type: 'trigger_custom_function', fields: { name: 'f' } },
        two: { type: 'trigger_custom_function', fields: { name: 'f' } },
      },
      [['two', 'name', /taken by the block one/]],
    ],
  ]
  test.each(cases)('%s', (_, blocks, expected) => {
    const { blueprint, problems } = fixture.compile(blocks)
    expect(blueprint).toBeUndefined()
    expect(problems.map(({ block, pin }) => [block, pin])).toEqual(
      expected.map(([block, pin]) => [block, pin]),
    )
    for (const [i, [, , message]] of expected.entries()) expect(problems[i]?.message).toMatch(message)
  })

  test('all of them at once, and nothing twice', () => {
    const all = Object.assign(
      {},
      ...cases.slice(0, 2).map(([, blocks], i) => ({ [`x${i}`]: Object.values(blocks)[0] })),
    )
    expect(fixture.compile(all).problems).toHaveLength(2)
  })

  const pinsOf = (blocks: FlowBlocks) =>
    fixture.compile(blocks).problems.map(({ block, pin }) => [block, pin])

  test('those of the graph and those of its triggers at once', () => {
    const blocks = {
      ...replyWith('@map.item', { map: { type: 'array_map' } }),
      read: { type: 'function_get_document', in: { flow: '@get.flow' } },
      around: { type: 'value_default', in: { value: '@back.value' } },
      back: { type: 'value_default', in: { value: '@around.value' } },
      badUri: { ...get, in: { uri: 'a//b' } },
      sent: { type: 'httpconnection_get_params' },
      badRun: { ...get, in: { uri: '@sent.value' } },
      one: { ...get, in: { uri: 'same/{x}' } },
      two: { ...get, in: { uri: 'same/:y' } },
    }
    expect(pinsOf(blocks)).toEqual([
      ['read', 'storage'],
      ['read', 'guid'],
      ['reply', 'value'],
      ['back', 'value'],
      ['badUri', 'uri'],
      ['badRun', 'uri'],
      ['two', 'uri'],
    ])
  })

  test.each([
    ['a block with a problem', { base: { type: 'value_default', in: { nope: 1, default: 'a//b' } } }],
    ['a circle', { base: { type: 'value_default', in: { value: '@base.value', default: 'a//b' } } }],
    ['a type that is not there', { base: { type: 'nope' } }],
  ])('nothing is said of a trigger that is read from %s', (_, more) => {
    const far = { type: 'value_default', in: { value: '@base.value' } }
    const blocks = {
      ...more,
      far,
      one: { ...get, in: { uri: '@far.value' } },
      two: { ...get, in: { uri: '@far.value' } },
    }
    expect(pinsOf(blocks)).toHaveLength(1)
    expect(pinsOf(blocks)).not.toContainEqual([expect.stringMatching(/one|two/), expect.anything()])
  })
})

describe('what a blueprint needs of its storages', () => {
  const searching = (query: Record<string, unknown>, sort?: Record<string, unknown>): FlowBlocks => ({
    get,
    storage,
    sent: { type: 'httpconnection_get_params', in: { field: 'value' } },
    query: { type: 'query_bool_term_fields', ...query },
    ...(sort && { sort: { type: 'query_sort_field', in: sort } }),
    find: {
      type: 'function_search',
      in: {
        flow: '@get.flow',
        storage: '@storage.storage',
        query: '@query.query',
        ...(sort && { sort: '@sort.sort' }),
      },
    },
  })
  const value = '@sent.value'
  test.each([
    ['a storage that is only chosen', { get, storage }, { indexes: [], text: false }],
    [
      'equal and newest first',
      searching({ in: { field: 'status', value } }, { field: '_meta.created', order: 'desc' }),
      { indexes: [{ fields: ['status', '_meta.created'] }], text: false },
    ],
    [
      'equal alone',
      searching({ in: { field: 'status', value } }),
      { indexes: [{ fields: ['status'] }], text: false },
    ],
    [
      'a range of dates',
      searching({ type: 'query_bool_range_field', in: { field: 'due', gte: 'now-7d/d' } }),
      { indexes: [{ fields: ['due'] }], text: false },
    ],
    [
      'free text',
      searching({ type: 'query_bool_simple_query_string_field', in: { value } }),
      { indexes: [], text: true },
    ],
    [
      'sorted by a field of the builder',
      searching({ in: { field: 'status', value } }, { field: 'title' }),
      { indexes: [{ fields: ['status', 'title'] }], text: false },
    ],
    [
      'an optional filter: without it the sort is on its own',
      searching({ in: { field: 'status', value, ignore_empty: true } }, { field: 'title' }),
      { indexes: [{ fields: ['status', 'title'] }, { fields: ['title'] }], text: false },
    ],
    [
      'a sort that only the request knows: no index over a field that is unknown at compile time',
      searching({ in: { field: 'status', value } }, { field: '@sent.value' }),
      { indexes: [{ fields: ['status'] }], text: false },
    ],
    [
      'a filter by a field that only the request knows',
      searching({ in: { field: '@sent.value', value } }),
      { indexes: [], text: false },
    ],
    [
      'a sort that the request may choose: what it is when it does not',
      {
        ...searching({ in: { field: 'status', value, ignore_empty: true } }, { field: '@by.value' }),
        by: { type: 'value_default', in: { value: '@sent.value', default: 'size' } },
      },
      { indexes: [{ fields: ['status', 'size'] }, { fields: ['size'] }], text: false },
    ],
    [
      'two filters: together, and each on its own',
      {
        ...searching({ type: 'query_and', in: { queries: ['@a.query', '@b.query'] } }, { field: 'title' }),
        a: { type: 'query_bool_term_fields', in: { field: 'status', value } },
        b: { type: 'query_bool_term_fields', in: { field: 'owner', value, ignore_empty: true } },
      },
      {
        indexes: [
          { fields: ['status', 'owner', 'title'] },
          { fields: ['status', 'title'] },
          { fields: ['owner', 'title'] },
        ],
        text: false,
      },
    ],
  ])('%s', (_, blocks, needs) => {
    expect(fixture.compile(blocks).blueprint?.needs.get('things')).toEqual(needs)
  })

  test.each<[FieldType, CollationName | undefined, string]>([
    ['string', undefined, 'title COLLATE "und"'],
    ['long_text', 'sv', 'title COLLATE "sv"'],
    ['string', 'binary', 'title'],
    ['date', undefined, 'title'],
  ])('sorted by a %s with the collation %s: an index in its order', (type, collation, indexed) => {
    const blocks = searching({ in: { field: 'status', value } }, { field: 'title' })
    const rule = {
      name: 'title',
      storage: 'things',
      type,
      required: false,
      defaultValue: undefined,
      limits: {},
    }
    const { blueprint } = fixture.compile(blocks, {
      fieldsOf: () => [{ ...rule, ...(collation && { collation }) }],
    })
    expect(blueprint?.needs.get('things')?.indexes).toEqual([{ fields: ['status', indexed] }])
  })

  test('found by a text of which case does not count: the index in the order of its letters', () => {
    const { blueprint } = fixture.compile(searching({ in: { field: 'title', value } }), {
      fieldsOf: () => [
        {
          ...{ name: 'title', storage: 'things', type: 'string', required: false, limits: {} },
          ...{ defaultValue: undefined, ignores: 'case' },
        },
      ],
    })
    expect(blueprint?.needs.get('things')?.indexes).toEqual([{ fields: ['title COLLATE "und"'] }])
  })
})

test('the names of the parameters that a flow asks for', () => {
  const blocks = replyWith('@limit.value', {
    limit: { type: 'httpconnection_get_params', in: { field: 'limit' } },
    unused: { type: 'httpconnection_get_params', in: { field: 'unused' } },
  })
  expect(fixture.compile(blocks).blueprint?.endpoints[0]?.fields).toEqual(['limit'])
})
