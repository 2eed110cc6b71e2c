/** Values, objects, lists, ways and functions: what is posted goes through the block and comes back. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { answering, call, eventually, found, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, reply, setOne, storage } from '../flow-blocks.ts'

const one = { sent: fields('@on.body', 'value') }

const valueDefault: Scenario = async (fixture) => {
  const block = { type: 'value_default', in: { value: '@sent.value', default: 'none' } }
  const send = await answering(fixture, '@block.value', { ...one, block })
  const values = [
    await send({ value: 'a' }),
    await send({}),
    await send({ value: '' }),
    await send({ value: null }),
  ]
  expect(values).toEqual(['a', 'none', 'none', 'none'])
  expect([await send({ value: ' ' }), await send({ value: 0 }), await send({ value: false })]).toEqual([
    ' ',
    '0',
    'false',
  ])
  const bare = object({ value: '@block.value' })
  const without = { ...one, block: { type: 'value_default', in: { value: '@sent.value' } }, bare }
  expect(await (await answering(fixture, '@bare.object', without))({})).toEqual({})
}

const numberDefault: Scenario = async (fixture) => {
  const block = { type: 'number_default', in: { value: '@sent.value', default: 2 } }
  const send = await answering(fixture, '@block.number', { ...one, block })
  expect([await send({ value: '7.5' }), await send({ value: 0 }), await send({})]).toEqual([7.5, 0, 2])
  expect([await send({ value: '' }), await send({ value: null })]).toEqual([2, 2])
  await expect(send({ value: 'many' })).rejects.toThrow('number')
}

const newFields: Scenario = async (fixture) => {
  const made = object({ a: '@sent.value', 'b.c': 1, 'b.d': '@sent.value', absent: '@sent.other' })
  const send = await answering(fixture, '@made.object', { sent: fields('@on.body', 'value', 'other'), made })
  expect(await send({ value: [1], more: 2 })).toEqual({ a: [1], b: { c: 1, d: [1] } })
  expect(await send({ value: null, other: 0 })).toEqual({ a: null, b: { c: 1, d: null }, absent: 0 })
  const over = object({ a: 1, 'a.b': 2 })
  expect(
    await (await answering(fixture, '@over.object', { over }))({}),
    'what is no object is replaced',
  ).toEqual({ a: { b: 2 } })
  expect(await (await answering(fixture, '@none.object', { none: object({}) }))({})).toEqual({})
}

const updateFields: Scenario = async (fixture) => {
  const changed = {
    type: 'object_update_fields',
    fields: { fields: ['b', 'deep.in', 'c'], out_fields: ['a', 'b', 'deep.in', 'none'] },
    in: { object: '@on.body', b: 'new', 'deep.in': 1, c: '@sent.other' },
  }
  const sent = { type: 'object_update_fields', fields: { out_fields: ['other'] }, in: { object: '@on.body' } }
  const both = object({
    changed: '@changed.object',
    source: '@on.body',
    a: '@changed.a',
    b: '@changed.b',
    none: '@changed.none',
  })
  const send = await answering(fixture, '@both.object', { sent, changed, both })
  const body = { a: 1, b: 'old', deep: { out: 2 } }
  expect(await send(body)).toEqual({
    changed: { a: 1, b: 'new', deep: { in: 1, out: 2 } },
    source: body,
    a: 1,
    b: 'new',
  })
  const made = { type: 'object_update_fields', fields: { fields: ['b'] }, in: { b: '@sent.other' } }
  expect(
    await (await answering(fixture, '@made.object', { sent, made }))({ other: 3 }),
    'of nothing',
  ).toEqual({
    b: 3,
  })
}

const arrayMap: Scenario = async (fixture) => {
  const map = { type: 'array_map', in: { array: '@sent.value', result: '@each.object' } }
  const each = object({ item: '@map.item', at: '@map.index' })
  const send = await answering(fixture, '@map.array', { ...one, map, each })
  expect(await send({ value: ['a', 'b'] })).toEqual([
    { item: 'a', at: 0 },
    { item: 'b', at: 1 },
  ])
  expect([await send({ value: [] }), await send({})]).toEqual([[], []])
  expect(await send({ value: 'no list' }), 'one is a list of one').toEqual([{ item: 'no list', at: 0 }])
  const most = Array.from({ length: 10_000 }, () => 0)
  expect(await send({ value: most })).toHaveLength(10_000)
  await expect(send({ value: [...most, 0] })).rejects.toThrow('10,000')
  const empty = { ...map, in: { array: '@sent.value', result: '@absent.none' } }
  const absent = {
    type: 'object_update_fields',
    fields: { out_fields: ['none'] },
    in: { object: '@each.object' },
  }
  expect(
    await (await answering(fixture, '@map.array', { ...one, map: empty, each, absent }))({ value: [1] }),
  ).toEqual([null])
  const plain = { type: 'array_map', in: { array: '@sent.value' } }
  expect(await (await answering(fixture, '@plain.array', { ...one, plain }))({ value: [1, 'a'] })).toEqual([
    1,
    'a',
  ])
}

/** Replies which way was gone for what is posted; a way that is not gone would reply as well, and be logged. */
async function ways(fixture: ContractFixture): Promise<(value: JsonValue) => Promise<JsonValue | undefined>> {
  const uri = fixture.name()
  const { sent } = one
  const ask = { type: 'branch', in: { flow: '@on.flow', condition: '@sent.value' } }
  const [yes, no] = [reply('@ask.true', 'yes'), reply('@ask.false', 'no')]
  await fixture.run({ on: on('post', uri), sent, ask, yes, no })
  return async (value) => {
    const before = (await fixture.systemLog()).length
    const { body } = await call(fixture, 'POST', uri, { value })
    expect(await fixture.systemLog()).toHaveLength(before)
    return body
  }
}

const branches: Scenario = async (fixture) => {
  const way = await ways(fixture)
  expect([await way(true), await way(false)]).toEqual(['yes', 'no'])
  expect([await way('true'), await way('false'), await way(''), await way(null)]).toEqual([
    'yes',
    'no',
    'no',
    'no',
  ])
}
const branchTrue: Scenario = async (fixture) => expect(await (await ways(fixture))(true)).toBe('yes')
const branchFalse: Scenario = async (fixture) => expect(await (await ways(fixture))(false)).toBe('no')

const notEmpty: Scenario = async (fixture) => {
  const is = { type: 'condition_not_empty_value', in: { value: '@sent.value' } }
  const send = await answering(fixture, '@is.condition', { ...one, is })
  for (const value of ['a', 0, false, [0], { a: null }])
    expect([value, await send({ value })]).toEqual([value, true])
  for (const value of ['', ' \t', null, [], {}])
    expect([value, await send({ value })]).toEqual([value, false])
  expect(await send({})).toBe(false)
}

const consoleLog: Scenario = async (fixture) => {
  const uri = fixture.name()
  const log = {
    type: 'function_console_log',
    in: { flow: '@on.flow', value: '@sent.value', level: '@sent.level' },
  }
  const blueprint = await fixture.run({
    on: on('post', uri),
    sent: fields('@on.body', 'value', 'level'),
    log,
    reply: reply('@log.flow', 'logged'),
  })
  const entries = () =>
    found(fixture, '/_system/systemlogs/search', { filters: { blueprint }, sort: [{ '_meta.cms': 'asc' }] })
  const logged = async () => (await entries()).map(({ level, value }) => ({ level, value }))
  expect(await logged()).toEqual([])
  const write = async (level?: string) => {
    const value = { what: level ?? 'nothing said' }
    expect((await call(fixture, 'POST', uri, { value, ...(level && { level }) })).body).toBe('logged')
    const known = level ?? 'info'
    await eventually(async () => (await logged()).filter((one) => one.level === known).at(-1), {
      level: known,
      value,
    })
  }
  for (const level of [undefined, 'warn', 'error']) await write(level)
  const [first] = await entries()
  expect(first).toMatchObject({
    run: expect.stringMatching(/^[0-9a-f-]{36}$/),
    block: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect((await call(fixture, 'POST', uri, { value: 1, level: 'loud' })).status).toBe(400)
}

/** A function that gives back its parameters, and the call of it. */
const calling = (name: string, type = 'any') => ({
  function: { type: 'trigger_custom_function', fields: { name }, out: [{ id: 'word', type }] },
  returned: object({ word: '@function.word' }),
  return: { type: 'function_return', in: { flow: '@function.flow', value: '@returned.object' } },
  call: {
    type: 'function_custom_execute',
    fields: { parameters: ['word'] },
    in: { flow: '@on.flow', function: name, word: '@on.body' },
  },
})

const customFunction: Scenario = async (fixture) => {
  const send = await answering(fixture, '@call.value', calling(` ${fixture.name()} `), '@call.flow')
  expect([await send('a'), await send({ b: [1] })]).toEqual([{ word: 'a' }, { word: { b: [1] } }])
  const other = fixture.name()
  await fixture.run({
    on: on('post', other),
    call: calling(fixture.name()).call,
    reply: reply('@call.flow', 1),
  })
  expect((await call(fixture, 'POST', other, 'a')).status).toBe(500)
  const number = await answering(fixture, '@call.value', calling(fixture.name(), 'number'), '@call.flow')
  expect(await number('7')).toEqual({ word: 7 })
  await calledFromQueue(fixture)
  await refusesFunctions(fixture)
}

/** From the queue it runs with the parameters that were handed over. */
async function calledFromQueue(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    later: {
      type: 'function_custom_execute_from_queue',
      fields: { parameters: ['word'] },
      in: { flow: '@on.flow', function: uri, word: '@on.body' },
    },
    reply: reply('@later.flow', 'later'),
    function: { type: 'trigger_custom_function', fields: { name: uri }, out: [{ id: 'word', type: 'any' }] },
    set: setOne('word', '@function.word'),
    write: create('@function.flow', '@set.mutations'),
  })
  await call(fixture, 'POST', uri, 'deferred')
  await eventually(async () => (await fixture.documents(uri)).map(({ word }) => word), ['deferred'])
}

async function refusesFunctions(fixture: ContractFixture): Promise<void> {
  const blocks = (fields: JsonObject, out: JsonValue) => ({
    function: { type: 'trigger_custom_function', fields, out },
    log: { type: 'function_console_log', in: { flow: '@function.flow', value: 1 } },
  })
  const name = fixture.name()
  const wrong: readonly (readonly [JsonObject, JsonValue])[] = [
    [{}, []],
    [{ name: ' ' }, []],
    [{ name: '-' }, []],
    [{ name }, [{ id: '1st', type: 'any' }]],
    [{ name }, [{ id: 'flow', type: 'any' }]],
    [
      { name },
      [
        { id: 'a', type: 'any' },
        { id: 'a', type: 'any' },
      ],
    ],
    [{ name }, [{ id: 'a', type: 'connection' }]],
    [{ name }, Array.from({ length: 51 }, (_, n) => ({ id: `p${n}`, type: 'any' }))],
  ]
  for (const [fields, out] of wrong) expect(await refused(fixture, blocks(fields, out))).toMatch(/name|out/)
}

/** The first return counts, and the call goes on with it; a branch that is under way meanwhile goes on. */
const functionReturn: Scenario = async (fixture) => {
  const name = fixture.name()
  const { function: begin, call } = calling(name)
  const blocks = {
    begin,
    call,
    is: { type: 'condition_not_empty_value', in: { value: '@begin.word' } },
    ask: { type: 'branch', in: { flow: '@begin.flow', condition: '@is.condition' } },
    filled: { type: 'function_return', in: { flow: '@ask.true', value: 'filled' } },
    empty: { type: 'function_return', in: { flow: '@ask.false', value: 'empty' } },
  }
  const send = await answering(fixture, '@call.value', blocks, '@call.flow')
  expect([await send('a'), await send('')]).toEqual(['filled', 'empty'])
  await returnsOnce(fixture)
  await returnsNothing(fixture)
}

async function returnsOnce(fixture: ContractFixture): Promise<void> {
  const [name, kept] = [fixture.name(), fixture.name()]
  const { function: begin, call: calls } = calling(name)
  const blocks = {
    store: storage(kept),
    begin,
    call: calls,
    first: { type: 'function_return', in: { flow: '@begin.flow', value: 'first' } },
    set: setOne('word', '@begin.word'),
    write: create('@begin.flow', '@set.mutations'),
    later: { type: 'function_return', in: { flow: '@write.flow', value: 'later' } },
  }
  const send = await answering(fixture, '@call.value', blocks, '@call.flow')
  expect(await send('a')).toBe('first')
  expect(await fixture.documents(kept), 'the other branch went on').toMatchObject([{ word: 'a' }])
  const behind = { ...blocks, wrong: { type: 'function_console_log', in: { flow: '@first.flow', value: 1 } } }
  expect(await refused(fixture, behind), 'nothing comes behind it').toContain('flow')
}

/** Without a value, or without a return, the call gives nothing. */
async function returnsNothing(fixture: ContractFixture): Promise<void> {
  for (const [at, value] of ['@on.flow', undefined].entries()) {
    const { function: begin, call: calls } = calling(fixture.name())
    const end = value === undefined ? {} : { end: { type: 'function_return', in: { flow: '@begin.flow' } } }
    const log = { type: 'function_console_log', in: { flow: '@begin.flow', value: 1 } }
    const seen = object({ value: '@call.value' })
    const send = await answering(
      fixture,
      '@seen.object',
      { begin, call: calls, ...end, log, seen },
      '@call.flow',
    )
    expect([at, await send('a')]).toEqual([at, {}])
  }
}

export const scenarios: Scenarios = {
  value_default: valueDefault,
  number_default: numberDefault,
  object_new_fields: newFields,
  object_update_fields: updateFields,
  array_map: arrayMap,
  branch: branches,
  'branch: true': branchTrue,
  'branch: false': branchFalse,
  condition_not_empty_value: notEmpty,
  function_console_log: consoleLog,
  trigger_custom_function: customFunction,
  function_return: functionReturn,
}
