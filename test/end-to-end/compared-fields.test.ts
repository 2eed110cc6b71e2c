/** Every type of field × every place that compares its values: what is stored is found by each way of writing the same value. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FieldType, fieldTypes } from '../../src/shared/fields/field-type.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

interface Tried {
  /** Ways to write one value. */
  readonly same: readonly [JsonValue, ...JsonValue[]]
  readonly other: JsonValue
  /** Of a parameter in the address. */
  readonly parameter: 'text' | 'number' | 'condition'
  readonly rules?: JsonObject
  /** Rows of files name a document by it. */
  readonly names?: true
}

/** With a mark behind its letter, as a Mac writes it, and as one letter. */
const [ONE, TWO] = ['\u00e9', 'e\u0301']
const text: Tried = { same: [ONE, TWO], other: 'e', parameter: 'text', names: true }

const tried: Readonly<Record<FieldType, Tried | string>> = {
  string: text,
  line: text,
  long_text: { same: [ONE, TWO], other: 'e', parameter: 'text' },
  number: { same: [1.5], other: 1, parameter: 'number' },
  integer: { same: [7], other: 8, parameter: 'number' },
  decimal: { same: [1.25], other: 1.2, parameter: 'number' },
  boolean: { same: [true], other: false, parameter: 'condition' },
  date: { same: ['2026-01-31T09:00:00Z'], other: '2026-01-31T10:00:00+01:00', parameter: 'text' },
  day: { same: ['2026-01-31'], other: '2026-01-30', parameter: 'text' },
  instant: {
    same: ['2026-01-31T10:00:00+01:00', '2026-01-31T09:00Z', '2026-01-31T09:00:00.000Z'],
    ...{ other: '2026-01-31T09:00:00.001Z', parameter: 'text' },
  },
  choice: { same: [ONE, TWO], other: 'b', parameter: 'text', rules: { choices: [ONE, 'b'] } },
  email: { same: ['ann@example.com'], other: 'ben@example.com', parameter: 'text', names: true },
  url: {
    same: [`https://a.example/${ONE}`, `https://a.example/${TWO}`],
    other: 'https://a.example/e',
    parameter: 'text',
  },
  phone: { same: ['+49 30 123456'], other: '+49 30 123457', parameter: 'text' },
  reference: 'compared as the guids that they are',
  autonumber: 'given by Quoin, an integer',
  created_by: 'given by Quoin, an object',
  changed_by: 'given by Quoin, an object',
  object: 'objects are not compared',
  array: 'lists are not compared, their items are texts and numbers',
  choices: 'lists are not compared, their items are texts and numbers',
  list: 'lists are not compared, their items are texts and numbers',
  file: 'objects are not compared',
  files: 'objects are not compared',
}
const types = fieldTypes.flatMap((type) => {
  const one = tried[type]
  return typeof one === 'string' ? [] : [{ type, ...one }]
})

let fixture: TestQuoin
const uriOf = (type: string) => type.replaceAll('_', '-')
const pathOf = (type: string) => `/_system/storages/of_${type}/documents`
const on = (method: string, uri: string) => ({
  type: `on_startup_register_uri_${method}`,
  in: { uri },
  scopes: ['*public'],
})
const count = (flow: string, found: string) => ({
  type: 'reply',
  in: { flow, value: `=length(${found}.documents)` },
})

function blocksOf({ type, parameter }: { type: string; parameter: string }): JsonObject {
  const storage = `of_${type}`
  const found = (name: string, input: JsonObject): JsonObject => ({
    [`on_${name}`]: on('post', `${uriOf(type)}/${name}`),
    [name]: { type: 'function_search', in: { flow: `@on_${name}.flow`, storage, ...input } },
    [`count_${name}`]: count(`@${name}.flow`, name),
  })
  return {
    put: on('put', `${uriOf(type)}/put`),
    upsert: {
      type: 'function_upsert_document',
      in: { flow: '@put.flow', storage, by: ['at'], set: '={ at: body.at }' },
    },
    done: { type: 'reply', in: { flow: '@upsert.flow', value: '=upsert.created' } },
    ...found('where', { where: '=doc.at == on_where.body.at' }),
    ...found('range', { where: '=doc.at >= on_range.body.at && doc.at <= on_range.body.at' }),
    term: { type: 'query_bool_term_fields', in: { field: 'at', value: '=on_by_term.body.at' } },
    ...found('by_term', { query: '@term.query' }),
    list: {
      type: 'on_startup_register_resource',
      in: { uri: `${uriOf(type)}/list`, storage },
      fields: { filters: [{ name: 'at', type: parameter }] },
      scopes: ['*public'],
    },
  }
}

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  const by = async (storage: string, field: JsonObject) =>
    fixture.manage('POST', '/blueprintfields', { storage, ...field })
  for (const { type, rules, same, ...one } of types) {
    for (const name of [`of_${type}`, `to_${type}`])
      await fixture.manage('POST', '/_system/storages', { name })
    const unique = type !== 'long_text' && { unique: true }
    await by(`of_${type}`, { name: 'at', type, ...unique, ...(rules && { validation_rules: rules }) })
    await by(`to_${type}`, { name: 'to', type: 'reference', reference: { storage: `of_${type}` } })
    await fixture.install(`Of ${type}`, blocksOf({ type, ...one }))
    await fixture.manage('POST', pathOf(type), { at: same[0] })
  }
})
afterAll(() => fixture.close())

/** How many documents a place finds. */
type Place = (type: string, value: JsonValue) => Promise<number>

const posted =
  (name: string): Place =>
  async (type, at) =>
    Number((await fixture.send('POST', `/${uriOf(type)}/${name}`, { body: { at } })).body)
const searched =
  (filter: (value: JsonValue) => JsonValue): Place =>
  async (type, value) =>
    objectsOf(await fixture.manage('POST', `${pathOf(type)}/search`, { filters: { at: filter(value) } }))
      .length

const places: Readonly<Record<string, Place>> = {
  'an expression': posted('where'),
  'a range of an expression': posted('range'),
  'a query block': posted('by_term'),
  'a filter of a resource': async (type, value) =>
    objectsOf(
      (await fixture.send('GET', `/${uriOf(type)}/list?at=${encodeURIComponent(String(value))}`)).body,
    ).length,
  'a filter of the API': searched((value) => value),
  'a list of a filter of the API': searched((value) => [value]),
  'a range of the API': searched((value) => ({ gte: value, lte: value })),
  'a unique field': async (type, value) =>
    (await fixture.send('POST', pathOf(type), { as: 'admin', body: { at: value } })).status === 409 ? 1 : 0,
  'an upsert': async (type, value) =>
    (await fixture.send('PUT', `/${uriOf(type)}/put`, { body: { at: value } })).body === false ? 1 : 0,
}
/** Conditions have no order. Long texts cannot be unique. */
const without: Readonly<Record<string, readonly string[]>> = {
  boolean: ['a range of an expression', 'a range of the API'],
  long_text: ['a unique field', 'an upsert'],
}

describe.each(types)('$type', ({ type, same, other }) => {
  const asked = Object.entries(places).filter(([place]) => !without[type]?.includes(place))
  test.each(asked)('is compared by %s, however it is written', async (_place, found) => {
    for (const value of same) expect([value, await found(type, value)]).toEqual([value, 1])
  })

  const searches = asked.filter(([place]) => place !== 'a unique field' && place !== 'an upsert')
  test.each(searches)('another value is not found by %s', async (_place, found) => {
    expect(await found(type, other)).toBe(0)
  })
})

const naming = types.filter(({ names }) => names)

test.each(naming)('a row of a file names a document by its $type', async ({ type, same }) => {
  const mapping = encodeURIComponent(JSON.stringify({ who: 'to.at' }))
  for (const value of same) {
    const reply = await fixture.quoin.server.app.inject({
      method: 'POST',
      url: `/api/v1/_system/storages/to_${type}/documents/import?mapping=${mapping}`,
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${await fixture.tokenOf('admin')}` },
      payload: `who\n${String(value)}\n`,
    })
    expect([reply.statusCode, reply.body]).toEqual([200, '{"imported":1}'])
  }
  const [stored] = await fixture.documents(`of_${type}`)
  expect(new Set((await fixture.documents(`to_${type}`)).map(({ to }) => to))).toEqual(
    new Set([guidOf(stored)]),
  )
})
