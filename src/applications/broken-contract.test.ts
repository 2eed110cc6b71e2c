import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { documentBreaks } from './broken-contract.ts'

const operation = (parts: JsonObject) => ({ paths: { '/api/v1/goods': { get: parts } }, schemas: {} })
const query = (name: string, more: JsonObject) => ({ name, in: 'query', ...more })
const parameters = (...all: JsonObject[]) => operation({ parameters: all })
const json = (schema: JsonObject) => ({ content: { 'application/json': { schema } } })
const reply = (schema: JsonObject) => operation({ responses: { 200: json(schema) } })
const body = (schema: JsonObject) => operation({ requestBody: json(schema) })
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})
const [text, number, integer] = [{ type: 'string' }, { type: 'number' }, { type: 'integer' }]

describe('what a client would notice', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    [
      'a new required parameter',
      parameters(),
      parameters(query('q', { required: true, schema: text })),
      'the parameter q must be sent from now on.',
    ],
    [
      'a parameter that becomes required',
      parameters(query('q', { schema: text })),
      parameters(query('q', { required: true, schema: text })),
      'the parameter q must be sent from now on.',
    ],
    [
      'a parameter of fewer values',
      parameters(query('n', { schema: number })),
      parameters(query('n', { schema: integer })),
      'the parameter n must be integer and no longer number.',
    ],
    [
      'a body with a new required field',
      body(object({ a: text })),
      body(object({ a: text, b: text }, ['b'])),
      'b of the body must be sent from now on.',
    ],
    [
      'a body with a field of another type',
      body(object({ a: text })),
      body(object({ a: number })),
      'a of the body must be number and no longer string.',
    ],
    [
      'a field of the reply that is gone',
      reply(object({ a: text, b: text })),
      reply(object({ a: text })),
      'b of the reply 200 is gone.',
    ],
    [
      'a field of the reply that may be missing',
      reply(object({ a: text }, ['a'])),
      reply(object({ a: text })),
      'a of the reply 200 may be missing.',
    ],
    [
      'a field of items',
      reply({ type: 'array', items: object({ a: integer }) }),
      reply({ type: 'array', items: object({ a: number }) }),
      'a of each item of the reply 200 is number and no longer integer.',
    ],
    [
      'a field of a schema with a name',
      { ...reply({ $ref: '#/components/schemas/Goods' }), schemas: { Goods: object({ a: text }) } },
      { ...reply({ $ref: '#/components/schemas/Goods2' }), schemas: { Goods2: object({ a: number }) } },
      'a of the reply 200 is number and no longer string.',
    ],
    [
      'a value that may be null',
      reply(object({ a: text })),
      reply(object({ a: { anyOf: [text, { type: 'null' }] } })),
      'a of the reply 200 is null or string and no longer string.',
    ],
    [
      'another status',
      reply(object({ a: text })),
      operation({ responses: { 201: json(object({ a: text })) } }),
      'the reply 200 is gone.',
    ],
  ])('%s', (_what, before, after, line) => {
    expect(documentBreaks(before, after)).toEqual([`GET /goods: ${line}`])
  })
})

describe('what it would not', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a new parameter', parameters(), parameters(query('q', { schema: text }))],
    [
      'a parameter of more values',
      parameters(query('n', { schema: integer })),
      parameters(query('n', { schema: number })),
    ],
    ['a new field of the reply', reply(object({ a: text })), reply(object({ a: text, b: text }, ['b']))],
    ['a reply of fewer types', reply({ type: ['string', 'null'] }), reply(text)],
    ['a reply that is not known before a run', reply(object({ a: text })), reply({})],
    ['an operation that is gone, which has a line of its own', reply(text), { paths: {} }],
  ])('%s', (_what, before, after) => {
    expect(documentBreaks(before, after)).toEqual([])
  })

  test('a schema that contains itself ends', () => {
    const self = { ...reply({ $ref: '#/x/Node' }), schemas: { Node: object({ next: { $ref: '#/x/Node' } }) } }
    expect(documentBreaks(self, self)).toEqual([])
  })
})
