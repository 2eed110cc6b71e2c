/** Maps and custom functions: each item and each call has values of its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let uri: string
let count = 0

beforeAll(async () => {
  quoin = await openTestQuoin()
})

afterAll(() => quoin.close())

beforeEach(() => {
  uri = `frames-${count++}`
})

/** Installs blocks that make a value of `@on.body`, and gives a function that sends a body and gets the value. */
async function answering(value: string, blocks: JsonObject): Promise<(body: JsonValue) => Promise<unknown>> {
  await quoin.install(uri, {
    on: { type: 'on_startup_register_uri_post', in: { uri } },
    ...blocks,
    reply: { in: { flow: '@on.flow', value }, type: 'httpconnection_set_json' },
  })
  const path = `/${uri}`
  return async (body) => {
    const answer = await quoin.send('POST', path, { body })
    return answer.status === 200 ? answer.body : { status: answer.status, body: answer.body }
  }
}

const object = (pins: JsonObject): JsonObject => ({
  type: 'object_new_fields',
  fields: { fields: Object.keys(pins) },
  in: pins,
})

const field = (of: string, ...names: string[]): JsonObject => ({
  type: 'object_update_fields',
  fields: { out_fields: names },
  in: { object: of },
})

describe('array_map', () => {
  test.each<[JsonValue, unknown]>([
    [7, [{ item: 7, index: 0 }]],
    ['a', [{ item: 'a', index: 0 }]],
    [{ a: 1 }, [{ item: { a: 1 }, index: 0 }]],
    [[], []],
    [
      ['a', null, { b: [1] }],
      [
        { item: 'a', index: 0 },
        { item: null, index: 1 },
        { item: { b: [1] }, index: 2 },
      ],
    ],
  ])('%j: each item with its index', async (body, expected) => {
    const send = await answering('@map.array', {
      map: { type: 'array_map', in: { array: '@on.body', result: '@each.object' } },
      each: object({ item: '@map.item', index: '@map.index' }),
    })
    expect(await send(body)).toEqual(expected)
  })

  test('an empty result is null, and a map without a result gives the list as it was', async () => {
    const send = await answering('@both.object', {
      map: { type: 'array_map', in: { array: '@on.body', result: '@read.name' } },
      read: field('@map.item', 'name'),
      same: { type: 'array_map', in: { array: '@on.body' } },
      both: object({ names: '@map.array', same: '@same.array' }),
    })
    const body = [{ name: 'a' }, {}, { name: 'b' }]
    expect(await send(body)).toEqual({ names: ['a', null, 'b'], same: body })
  })

  test('a map in a map sees the items of both, and two maps of one list do not mix', async () => {
    const send = await answering('@both.object', {
      outer: { type: 'array_map', in: { array: '@on.body', result: '@row.object' } },
      row: object({ name: '@names.name', cells: '@inner.array', length: '@outer.index' }),
      names: field('@outer.item', 'name', 'cells'),
      inner: { type: 'array_map', in: { array: '@names.cells', result: '@cell.object' } },
      cell: object({ row: '@names.name', at: '@outer.index', cell: '@inner.item', index: '@inner.index' }),
      second: { type: 'array_map', in: { array: '@on.body', result: '@second.index' } },
      both: object({ first: '@outer.array', second: '@second.array' }),
    })
    const body = [
      { name: 'a', cells: [1, 2] },
      { name: 'b', cells: [] },
      { name: 'c', cells: [3] },
    ]
    const expected = body.map(({ name, cells }, at) => ({
      name,
      cells: cells.map((cell, index) => ({ row: name, at, cell, index })),
      length: at,
    }))
    expect(await send(body)).toEqual({ first: expected, second: [0, 1, 2] })
  })

  test('one item that does not fit is 400 and names what was sent', async () => {
    const send = await answering('@map.array', {
      map: { type: 'array_map', in: { array: '@on.body', result: '@read.name' } },
      read: field('@map.item', 'name'),
    })
    expect(await send([{ name: 'a' }, 'text', { name: 'b' }])).toEqual({
      status: 400,
      body: { error: 'body must be an object', fields: { body: 'must be an object' } },
    })
    expect(await send([{ name: 'a' }])).toEqual(['a'])
  })

  test('requests that come together do not share frames', async () => {
    const send = await answering('@map.array', {
      map: { type: 'array_map', in: { array: '@on.body', result: '@each.object' } },
      each: object({ item: '@map.item' }),
    })
    const bodies = Array.from({ length: 30 }, (_, i) => Array.from({ length: 20 }, (_, j) => i * 100 + j))
    const answers = await Promise.all(bodies.map(send))
    expect(answers).toEqual(bodies.map((body) => body.map((item) => ({ item }))))
  })
})

describe('custom functions', () => {
  const call = (flow: string, name: string, pins: JsonObject = {}): JsonObject => ({
    type: 'function_custom_execute',
    fields: { parameters: Object.keys(pins) },
    in: { flow, function: name, ...pins },
  })
  const named = (name: string, ...parameters: string[]): JsonObject => ({
    type: 'trigger_custom_function',
    fields: { name },
    out: parameters.map((id) => ({ id, type: 'any' })),
  })
  const replyWith = (flow: string, value: string) => ({
    type: 'httpconnection_set_json',
    in: { flow, value },
  })
  const on = () => ({ type: 'on_startup_register_uri_post', in: { uri } })
  const send = async (body: JsonValue) => {
    const answer = await quoin.send('POST', `/${uri}`, { body })
    return answer.status === 200 ? answer.body : { status: answer.status, body: answer.body }
  }

  test('two calls of one function have parameters and values of their own', async () => {
    await quoin.install(uri, {
      on: on(),
      wrap: named(`${uri}-wrap`, 'value', 'label'),
      wrapped: object({ label: '@wrap.label', value: '@wrap.value' }),
      return: { type: 'function_return', in: { flow: '@wrap.flow', value: '@wrapped.object' } },
      first: call('@on.flow', `${uri}-wrap`, { value: '@on.body', label: 'first' }),
      second: call('@first.flow', `${uri}-wrap`, { value: '@first.value', label: 'second' }),
      reply: replyWith('@second.flow', '@second.value'),
    })
    expect(await send([1])).toEqual({ label: 'second', value: { label: 'first', value: [1] } })
  })

  test('a parameter that is named as a member of each object is empty where it is not sent', async () => {
    await quoin.install(uri, {
      on: on(),
      show: named(`${uri}-show`, 'constructor', 'toString'),
      shown: object({ one: '@show.constructor', two: '@show.toString' }),
      return: { type: 'function_return', in: { flow: '@show.flow', value: '@shown.object' } },
      call: call('@on.flow', `${uri}-show`, { toString: 'sent' }),
      reply: replyWith('@call.flow', '@call.value'),
    })
    expect(await send({})).toEqual({ two: 'sent' })
  })

  test('a function of another active blueprint; without it the call fails and nothing is replied by it', async () => {
    const other = await quoin.install('other', {
      other: named(`${uri}-other`),
      return: { type: 'function_return', in: { flow: '@other.flow', value: 'from there' } },
    })
    await quoin.install(uri, {
      on: on(),
      call: call('@on.flow', `${uri}-other`),
      reply: replyWith('@call.flow', '@call.value'),
    })
    expect(await send({})).toBe('from there')
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${other}`)
    expect(await send({})).toMatchObject({ status: 500, body: { error: 'internal error' } })
    await quoin.manage('PUT', `/blueprints/update/set/active/${other}`)
    expect(await send({})).toBe('from there')
  })

  test('what a function did not return is empty; a parameter that is not handed over is empty', async () => {
    await quoin.install(uri, {
      on: on(),
      none: named(`${uri}-none`, 'value'),
      log: { type: 'value_default', in: { value: '@none.value', default: 'empty' } },
      given: named(`${uri}-given`, 'value'),
      return: { type: 'function_return', in: { flow: '@none.flow', value: '@log.value' } },
      first: call('@on.flow', `${uri}-none`),
      second: call('@first.flow', `${uri}-given`, { value: 1 }),
      both: object({ first: '@first.value', second: '@second.value' }),
      reply: replyWith('@second.flow', '@both.object'),
    })
    expect(await send({})).toEqual({ first: 'empty' })
  })

  test('recursion: each depth has a frame of its own, to 32 and no deeper', async () => {
    // Unwraps { next: { next: … } } and wraps it again as { depth: { depth: … } }.
    await quoin.install(uri, {
      on: on(),
      peel: named(`${uri}-peel`, 'value'),
      read: field('@peel.value', 'next'),
      more: { type: 'condition_has_field', in: { object: '@peel.value', field: 'next' } },
      branch: { type: 'branch', in: { flow: '@peel.flow', condition: '@more.condition' } },
      deeper: call('@branch.true', `${uri}-peel`, { value: '@read.next' }),
      wrapped: object({ depth: '@deeper.value' }),
      return: { type: 'function_return', in: { flow: '@deeper.flow', value: '@wrapped.object' } },
      bottom: { type: 'function_return', in: { flow: '@branch.false', value: '@peel.value' } },
      call: call('@on.flow', `${uri}-peel`, { value: '@on.body' }),
      reply: replyWith('@call.flow', '@call.value'),
    })
    const nested = (key: string, depth: number): JsonObject =>
      depth === 0 ? { end: true } : { [key]: nested(key, depth - 1) }
    for (const depth of [0, 1, 5, 31])
      expect(await send(nested('next', depth))).toEqual(nested('depth', depth))
    expect(await send(nested('next', 32))).toMatchObject({ status: 500, body: { error: 'internal error' } })
    expect(await send(nested('next', 2)), 'and the next request is fine').toEqual(nested('depth', 2))
  })
})
