/** Bodies of `each`, branches that join, and variables of a run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import { matchAll } from '../../shared/query.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const get = { get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } } }
const body = { sent: { type: 'httpconnection_current_request' } }
const storage = (name: string) => ({ docs: { type: 'storage', fields: { storage: name } } })
const stored = (name: string) => fixture.database.session().count(name, matchAll)
const reply = (flow: string | readonly string[], value: unknown) => ({
  type: 'httpconnection_set_json',
  in: { flow, value },
})
const variable = (flow: string | readonly string[], name: string, mode: string, value: unknown) => ({
  type: 'set_value',
  fields: { name, mode },
  in: { flow, value },
})
const creates = (flow: string, from: string) => ({
  made: { type: 'mutations_set_custom_field', in: { field: 'n', value: from } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow, storage: '@docs.storage', mutations: '@made.mutations' },
  },
})
const first = async (blocks: FlowBlocks, request = {}) => {
  const { replies, end } = await fixture.run(blocks, request)
  expect(end.error).toBeUndefined()
  return replies[0]?.value
}

describe('each', () => {
  const loop = { each: { type: 'each', in: { flow: '@get.flow', list: '@sent.body' } } }

  test('its body sees each element, also in values that follow from it, and what follows runs once', async () => {
    const blocks = {
      ...get,
      ...body,
      ...loop,
      row: {
        type: 'object_new_fields',
        fields: { fields: ['i', 'v'] },
        in: { i: '@each.index', v: '@each.item' },
      },
      keep: variable('@each.each', 'rows', 'append', '@row.object'),
      rows: { type: 'value', fields: { name: 'rows' } },
      all: {
        type: 'object_new_fields',
        fields: { fields: ['rows', 'count'] },
        in: { rows: '@rows.value', count: '@each.count' },
      },
      reply: reply('@each.flow', '@all.object'),
    }
    const { replies, atOnce } = await fixture.run(blocks, { body: ['a', null, 'c'] }, {}, { clock: () => 0 })
    expect(replies.map(({ value }) => value)).toEqual([
      {
        rows: [
          { i: 0, v: 'a' },
          { i: 1, v: null },
          { i: 2, v: 'c' },
        ],
        count: 3,
      },
    ])
    expect(atOnce).toBe(true)
  })

  test('in each', async () => {
    const blocks = {
      ...get,
      ...body,
      ...loop,
      inner: { type: 'each', in: { flow: '@each.each', list: '@each.item' } },
      sum: variable('@inner.each', 'sum', 'add', '@inner.item'),
      after: variable('@inner.flow', 'passes', 'add', 1),
      s: { type: 'value', fields: { name: 'sum' } },
      p: { type: 'value', fields: { name: 'passes' } },
      all: {
        type: 'object_new_fields',
        fields: { fields: ['s', 'p'] },
        in: { s: '@s.value', p: '@p.value' },
      },
      reply: reply('@each.flow', '@all.object'),
    }
    expect(await first(blocks, { body: [[1, 2], [], [3]] })).toEqual({ s: 6, p: 3 })
  })

  const failing = {
    ...get,
    ...body,
    ...storage('each_fails'),
    ...loop,
    ...creates('@each.each', '@each.item'),
    find: {
      type: 'function_search',
      in: { flow: '@create.flow', storage: '@docs.storage', limit: '@each.item' },
    },
  }

  test('a failure names the element, undoes what all passes wrote, and is 400 for what the request brought', async () => {
    const { end, replies } = await fixture.run(failing, { body: [1, 2, 'many'] })
    expect(end.error).toMatchObject({
      code: 'INVALID_QUERY',
      message: 'element 2: body must be a whole number from 0 to 10,000',
    })
    expect(replies).toEqual([])
    expect(await stored('each_fails')).toBe(0)
  })

  test('error gives the index, and no further element is run', async () => {
    const blocks = { ...failing, reply: reply('@each.error', '@each.error') }
    expect(await first(blocks, { body: [1, 'many', 3] })).toEqual({
      code: 'INVALID_QUERY',
      message: 'element 1: body must be a whole number from 0 to 10,000',
      block: 'find',
      index: 1,
    })
    expect(await stored('each_fails')).toBe(2)
  })

  test('names the elements of all loops, the outermost first', async () => {
    const blocks = {
      ...get,
      ...body,
      ...loop,
      inner: { type: 'each', in: { flow: '@each.each', list: '@each.item' } },
      which: {
        type: 'switch',
        fields: { cases: ['bad'] },
        in: { flow: '@inner.each', value: '@inner.item' },
      },
      fail: { type: 'fail', in: { flow: '@which.bad', message: 'Not this.', status: 409 } },
    }
    const { end } = await fixture.run(blocks, { body: [['a'], ['b', 'bad']] })
    expect(end.error).toMatchObject({
      code: 'FLOW_FAILED',
      status: 409,
      message: 'element 1: element 1: Not this.',
    })
  })

  test('a return in it ends the loop and the function', async () => {
    const blocks = {
      ...get,
      ...body,
      call: {
        type: 'function_custom_execute',
        fields: { parameters: ['list'] },
        in: { flow: '@get.flow', function: 'find', list: '@sent.body' },
      },
      reply: reply('@call.flow', '@call.value'),
      find: {
        type: 'trigger_custom_function',
        fields: { name: 'find' },
        out: [{ id: 'list', type: 'array' }],
      },
      each: { type: 'each', in: { flow: '@find.flow', list: '@find.list' } },
      count: variable('@each.each', 'count', 'add', 1),
      which: {
        type: 'switch',
        fields: { cases: ['this'] },
        in: { flow: '@count.flow', value: '@each.item' },
      },
      counted: { type: 'value', fields: { name: 'count' } },
      found: { type: 'function_return', in: { flow: '@which.this', value: '@counted.value' } },
      none: { type: 'function_return', in: { flow: '@each.flow', value: 'none' } },
    }
    const kept = {
      ...blocks,
      ...storage('each_returns'),
      ...creates('@each.each', '@each.item'),
      count: variable('@create.flow', 'count', 'add', 1),
    }
    expect(await first(kept, { body: ['a', 'this', 'b'] })).toBe(2)
    expect(await stored('each_returns')).toBe(2)
    expect(await first(blocks, { body: ['a', 'b'] })).toBe('none')
  })

  test('over documents it runs in the transaction of the run, and sees none that it creates', async () => {
    const blocks = {
      ...get,
      ...storage('each_doc'),
      ...creates('@get.flow', 'first'),
      again: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@create.flow', storage: '@docs.storage', mutations: '@made.mutations' },
      },
      each: { type: 'each', in: { flow: '@again.flow', storage: '@docs.storage' } },
      more: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@each.each', storage: '@docs.storage', mutations: '@made.mutations' },
      },
      reply: reply('@each.flow', '@each.count'),
    }
    expect(await first(blocks)).toBe(2)
    expect(await stored('each_doc')).toBe(4)
  })

  test('a reply in it is sent once, and the loop goes on', async () => {
    const blocks = {
      ...get,
      ...body,
      ...storage('each_replies'),
      ...loop,
      ...creates('@each.each', '@each.item'),
      reply: reply('@create.flow', '@each.item'),
    }
    const { replies, logs } = await fixture.run(blocks, { body: ['a', 'b'] })
    expect(replies.map(({ value }) => value)).toEqual(['a'])
    expect(logs).toMatchObject([{ level: 'warn', message: 'A second reply in one run was ignored.' }])
    expect(await stored('each_replies')).toBe(2)
  })

  test('a run with a request is bounded by its blocks, and lets others have a turn', async () => {
    const list = Array.from({ length: 10_000 }, (_, n) => n)
    const blocks = {
      ...get,
      ...body,
      ...loop,
      sum: variable('@each.each', 'sum', 'add', '@each.item'),
      s: { type: 'value', fields: { name: 'sum' } },
      reply: reply('@each.flow', '@s.value'),
    }
    expect((await fixture.run(blocks, { body: list }, { budget: 10_000 })).end.error).toMatchObject({
      code: 'UNAVAILABLE',
    })
    expect((await fixture.run(blocks, { body: list }, { budget: 30_000 })).replies[0]?.value).toBe(49_995_000)
  })
})

describe('function_custom_execute_each', () => {
  test('a failure names the element and the parameter of the request', async () => {
    const blocks = {
      ...get,
      ...body,
      ...storage('call_each'),
      call: {
        type: 'function_custom_execute_each',
        in: { flow: '@get.flow', function: 'f', array: '@sent.body' },
      },
      f: { type: 'trigger_custom_function', fields: { name: 'f' }, out: [{ id: 'item', type: 'any' }] },
      find: { type: 'function_search', in: { flow: '@f.flow', storage: '@docs.storage', limit: '@f.item' } },
    }
    const { end } = await fixture.run(blocks, { body: [1, 'many'] })
    expect(end.error).toMatchObject({
      code: 'INVALID_QUERY',
      message: 'element 1: body must be a whole number from 0 to 10,000',
    })
  })
})

describe('a parameter of a custom function', () => {
  const call = (type: string, value: unknown = '@asked.value') => ({
    ...get,
    ...storage('parameters'),
    asked: { type: 'httpconnection_get_params', in: { field: 'page' } },
    call: {
      type: 'function_custom_execute',
      fields: { parameters: ['limit'] },
      in: { flow: '@get.flow', function: 'outer', limit: value },
    },
    outer: { type: 'trigger_custom_function', fields: { name: 'outer' }, out: [{ id: 'limit', type }] },
    pass: {
      type: 'function_custom_execute',
      fields: { parameters: ['most'] },
      in: { flow: '@outer.flow', function: 'inner', most: '@outer.limit' },
    },
    inner: { type: 'trigger_custom_function', fields: { name: 'inner' }, out: [{ id: 'most', type }] },
    find: {
      type: 'function_search',
      in: { flow: '@inner.flow', storage: '@docs.storage', limit: '@inner.most' },
    },
  })

  test.each(['any', 'value', 'number'])(
    'of the type %s that the request chose and the function cannot use is 400 naming it',
    async (type) => {
      const { end, logs } = await fixture.run(call(type), { query: { page: 'abc' } })
      expect(end.error).toMatchObject({ status: 400, message: expect.stringMatching(/^page must be/) })
      expect(logs).toEqual([])
    },
  )

  test('that the flow chose is a fault of the flow', async () => {
    const { end, logs } = await fixture.run(call('any', 'abc'))
    expect(end.error).toMatchObject({ status: 500 })
    expect(logs).toMatchObject([{ level: 'error', block: 'find', pin: 'limit' }])
  })
})

describe('variables', () => {
  test('are read again when one is set, in functions that are called too', async () => {
    const blocks = {
      ...get,
      v: { type: 'value', fields: { name: 'v' }, in: { default: 'unset' } },
      seen: { type: 'object_new_fields', fields: { fields: ['v'] }, in: { v: '@v.value' } },
      one: variable('@get.flow', 'seen', 'append', '@seen.object'),
      set: variable('@one.flow', 'v', 'set', 'set'),
      two: variable('@set.flow', 'seen', 'append', '@seen.object'),
      call: { type: 'function_custom_execute', in: { flow: '@two.flow', function: 'f' } },
      three: variable('@call.flow', 'seen', 'append', '@seen.object'),
      all: { type: 'value', fields: { name: 'seen' } },
      reply: reply('@three.flow', '@all.value'),
      f: { type: 'trigger_custom_function', fields: { name: 'f' } },
      inside: variable('@f.flow', 'v', 'set', 'by function'),
    }
    const seen = [{ v: 'unset' }, { v: 'set' }, { v: 'by function' }]
    expect(await first(blocks)).toEqual(seen)
    // Of another run nothing is left.
    expect(await first(blocks)).toEqual(seen)
  })
})

describe('join', () => {
  const branches = {
    ...get,
    a: variable('@get.flow', 'seen', 'append', 'a'),
    b: variable('@get.flow', 'seen', 'append', 'b'),
    c: variable('@b.flow', 'seen', 'append', 'c'),
    join: { type: 'join', in: { flow: '@a.flow', a: '@c.flow' } },
    seen: { type: 'value', fields: { name: 'seen' } },
    reply: reply('@join.flow', '@seen.value'),
  }

  test('continues once, when all branches are there', async () => {
    const { replies, logs } = await fixture.run(branches)
    expect(replies.map(({ value }) => value)).toEqual([['a', 'b', 'c']])
    expect(logs).toEqual([])
  })

  test('of several wires into one pin the first counts, and it waits again', async () => {
    const twice = { ...branches, join: { type: 'join', in: { flow: ['@a.flow', '@b.flow'], a: '@c.flow' } } }
    const { replies, logs } = await fixture.run(twice)
    expect([replies.length, logs]).toEqual([1, []])
  })

  test('does not continue while a branch is missing', async () => {
    const blocks = {
      ...branches,
      which: { type: 'branch', in: { flow: '@b.flow', condition: false } },
      c: variable('@which.true', 'seen', 'append', 'c'),
    }
    expect((await fixture.run(blocks)).replies).toEqual([])
  })

  test('waits for branches that wait, and in each pass of a loop', async () => {
    const blocks = {
      ...get,
      ...body,
      ...storage('joined'),
      each: { type: 'each', in: { flow: '@get.flow', list: '@sent.body' } },
      ...creates('@each.each', '@each.item'),
      beside: variable('@each.each', 'beside', 'add', 1),
      join: { type: 'join', in: { a: '@create.flow', b: '@beside.flow' } },
      joined: variable('@join.flow', 'joined', 'add', 1),
      n: { type: 'value', fields: { name: 'joined' } },
      reply: reply('@each.flow', '@n.value'),
    }
    expect(await first(blocks, { body: [1, 2, 3] })).toBe(3)
  })
})

describe('switch', () => {
  test('takes one way', async () => {
    const blocks = {
      ...get,
      asked: { type: 'httpconnection_get_params', in: { field: 'state' } },
      which: {
        type: 'switch',
        fields: { cases: ['open', '5'] },
        in: { flow: '@get.flow', value: '@asked.value' },
      },
      open: reply('@which.open', 'open'),
      five: reply('@which.5', 'five'),
      other: reply('@which.default', 'other'),
    }
    const of = async (state: string) =>
      (await fixture.run(blocks, { query: { state } })).replies.map(({ value }) => value)
    expect([await of('open'), await of('5'), await of('error')]).toEqual([['open'], ['five'], ['other']])
  })

  test.each(['default', 'error'])('a case named %s is refused when it is deployed', (name) => {
    const { problems } = fixture.compile({
      ...get,
      which: { type: 'switch', fields: { cases: [name] }, in: { flow: '@get.flow' } },
    })
    expect(problems).toMatchObject([
      { block: 'which', pin: name, message: expect.stringContaining('already') },
    ])
  })
})
