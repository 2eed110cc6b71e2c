/** Values, objects, lists, ways and functions: what is posted goes through the block and comes back. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { answering, call, eventually, found } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { fields, object, on, reply } from '../flow-blocks.ts'

const one = { sent: fields('@on.body', 'value') }

const valueDefault: Scenario = async (room) => {
  const block = { type: 'value_default', in: { value: '@sent.value', default: 'none' } }
  const send = await answering(room, '@block.value', { ...one, block })
  expect([await send({ value: 'a' }), await send({}), await send({ value: '' })]).toEqual([
    'a',
    'none',
    'none',
  ])
}

const numberDefault: Scenario = async (room) => {
  const block = { type: 'number_default', in: { value: '@sent.value', default: 2 } }
  const send = await answering(room, '@block.number', { ...one, block })
  expect([await send({ value: '7.5' }), await send({ value: 0 }), await send({})]).toEqual([7.5, 0, 2])
  await expect(send({ value: 'many' })).rejects.toThrow('number')
}

const newFields: Scenario = async (room) => {
  const made = object({ a: '@sent.value', 'b.c': 1, absent: '@sent.other' })
  const send = await answering(room, '@made.object', { sent: fields('@on.body', 'value', 'other'), made })
  expect(await send({ value: [1], more: 2 })).toEqual({ a: [1], b: { c: 1 } })
}

const updateFields: Scenario = async (room) => {
  const changed = {
    type: 'object_update_fields',
    fields: { fields: ['b'] },
    in: { object: '@on.body', b: 'new' },
  }
  const both = object({ changed: '@changed.object', source: '@on.body' })
  const send = await answering(room, '@both.object', { changed, both })
  const body = { a: 1, b: 'old' }
  expect(await send(body)).toEqual({ changed: { a: 1, b: 'new' }, source: body })
}

const arrayMap: Scenario = async (room) => {
  const send = await answering(room, '@map.array', {
    map: { type: 'array_map', in: { array: '@on.body', result: '@each.object' } },
    each: object({ item: '@map.item', at: '@map.index' }),
  })
  expect(await send(['a', 'b'])).toEqual([
    { item: 'a', at: 0 },
    { item: 'b', at: 1 },
  ])
  expect(await send([])).toEqual([])
}

/** Replies which way was gone for what is posted; a way that is not gone would reply as well, and be logged. */
async function ways(room: ContractRoom): Promise<(value: JsonValue) => Promise<JsonValue | undefined>> {
  const uri = room.name()
  const { sent } = one
  const ask = { type: 'branch', in: { flow: '@on.flow', condition: '@sent.value' } }
  const [yes, no] = [reply('@ask.true', 'yes'), reply('@ask.false', 'no')]
  await room.run({ on: on('post', uri), sent, ask, yes, no })
  return async (value) => {
    const before = (await room.systemLog()).length
    const { body } = await call(room, 'POST', uri, { value })
    expect(await room.systemLog()).toHaveLength(before)
    return body
  }
}

const branches: Scenario = async (room) => {
  const way = await ways(room)
  expect([await way(true), await way(false)]).toEqual(['yes', 'no'])
}
const branchTrue: Scenario = async (room) => expect(await (await ways(room))(true)).toBe('yes')
const branchFalse: Scenario = async (room) => expect(await (await ways(room))(false)).toBe('no')

const notEmpty: Scenario = async (room) => {
  const is = { type: 'condition_not_empty_value', in: { value: '@sent.value' } }
  const send = await answering(room, '@is.condition', { ...one, is })
  for (const value of ['a', 0, false, [0], { a: null }])
    expect([value, await send({ value })]).toEqual([value, true])
  for (const value of ['', ' \t', null, [], {}])
    expect([value, await send({ value })]).toEqual([value, false])
  expect(await send({})).toBe(false)
}

const consoleLog: Scenario = async (room) => {
  const uri = room.name()
  const blueprint = await room.run({
    on: on('post', uri),
    log: { type: 'function_console_log', in: { flow: '@on.flow', value: '@on.body', level: 'warn' } },
    reply: reply('@log.flow', 'logged'),
  })
  const logged = async () => {
    const entries = await found(room, '/_system/systemlogs/search', { filters: { blueprint } })
    return entries.map(({ level, value }) => ({ level, value }))
  }
  expect(await logged()).toEqual([])
  expect((await call(room, 'POST', uri, { what: 'seen' })).body).toBe('logged')
  await eventually(logged, [{ level: 'warn', value: { what: 'seen' } }])
}

/** A function that returns twice, calls of it, and a reply of what came back. */
const calling = (name: string) => ({
  function: { type: 'trigger_custom_function', fields: { name }, out: [{ id: 'word', type: 'any' }] },
  returned: object({ word: '@function.word' }),
  return: { type: 'function_return', in: { flow: '@function.flow', value: '@returned.object' } },
  call: {
    type: 'function_custom_execute',
    fields: { parameters: ['word'] },
    in: { flow: '@on.flow', function: name, word: '@on.body' },
  },
})

const customFunction: Scenario = async (room) => {
  const send = await answering(room, '@call.value', calling(room.name()), '@call.flow')
  expect(await send('a')).toEqual({ word: 'a' })
  const other = room.name()
  await room.run({ on: on('post', other), call: calling(room.name()).call, reply: reply('@call.flow', 1) })
  expect((await call(room, 'POST', other, 'a')).status).toBe(500)
}

/** The function ends at the return: the one that comes later in the same call is too late. */
const functionReturn: Scenario = async (room) => {
  const name = room.name()
  const { function: begin, call } = calling(name)
  const blocks = {
    begin,
    call,
    is: { type: 'condition_not_empty_value', in: { value: '@begin.word' } },
    ask: { type: 'branch', in: { flow: '@begin.flow', condition: '@is.condition' } },
    filled: { type: 'function_return', in: { flow: '@ask.true', value: 'filled' } },
    empty: { type: 'function_return', in: { flow: '@ask.false', value: 'empty' } },
  }
  const send = await answering(room, '@call.value', blocks, '@call.flow')
  expect([await send('a'), await send('')]).toEqual(['filled', 'empty'])
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
