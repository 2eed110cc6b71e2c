import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { documentBreaks } from './broken-contract.ts'

const operation = (parts: JsonObject) => ({ paths: { '/api/v1/goods': { get: parts } }, schemas: {} })
const query = (name: string, more: JsonObject) => ({ name, in: 'query', ...more })
const parameters = (...all: JsonObject[]) => operation({ parameters: all })
const json = (schema: JsonObject) => ({ content: { 'application/json': { schema } } })
const reply = (schema: JsonObject) => operation({ responses: { 200: json(schema) } })
const body = (schema: JsonObject) => operation({ requestBody: json(schema) })
const formContent = (schema: JsonObject) => ({ 'multipart/form-data': { schema } })
const form = (schema: JsonObject) => operation({ requestBody: { content: formContent(schema) } })
const choice = (...values: string[]): JsonObject => ({ type: 'string', enum: values })
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
      'a parameter that is gone',
      parameters(query('q', { schema: text })),
      parameters(),
      'the parameter q is no longer read.',
    ],
    [
      'a parameter with fewer choices',
      parameters(query('q', { schema: choice('a', 'b', 'c') })),
      parameters(query('q', { schema: choice('b', 'd') })),
      'the parameter q must not be "a", "c" from now on.',
    ],
    [
      'a parameter that has choices from now on',
      parameters(query('q', { schema: text })),
      parameters(query('q', { schema: choice('a', 'b', 'c', 'd', 'e', 'f') })),
      'the parameter q must be one of "a", "b", "c", "d", "e", … from now on.',
    ],
    [
      'a body that must be sent',
      body(object({ a: text })),
      operation({ requestBody: { required: true, ...json(object({ a: text })) } }),
      'a body must be sent from now on.',
    ],
    [
      'a body with a field that is not read',
      body(object({ a: text, b: text })),
      body(object({ a: text })),
      'b of the body is no longer read.',
    ],
    [
      'a body with a field that could be anything',
      body(object({ a: {} })),
      body(object({ a: number })),
      'a of the body must be number from now on.',
    ],
    [
      'a body with a field inside another that must be sent',
      body(object({ a: object({ b: text }) })),
      body(object({ a: object({ b: text, c: text }, ['c']) })),
      'c of a of the body must be sent from now on.',
    ],
    [
      'a body with items of another type',
      body(object({ a: { type: 'array', items: text } })),
      body(object({ a: { type: 'array', items: number } })),
      'each item of a of the body must be number and no longer string.',
    ],
    ...(
      [
        ['minimum', 1, 2],
        ['maximum', 2, 1],
        ['minLength', 1, 2],
        ['maxLength', 2, 1],
        ['maxItems', 2, 1],
      ] as const
    ).map(([limit, was, is]): [string, JsonObject, JsonObject, string] => [
      `a body with a stricter ${limit}`,
      body(object({ a: { [limit]: was } })),
      body(object({ a: { [limit]: is } })),
      `a of the body has the ${limit} ${is} and no longer ${was}.`,
    ]),
    [
      'a body with a new limit',
      body(object({ a: number })),
      body(object({ a: { ...number, maximum: 9 } })),
      'a of the body has the maximum 9 from now on.',
    ],
    [
      'a body with another pattern',
      body(object({ a: { ...text, pattern: '^a$' } })),
      body(object({ a: { ...text, pattern: '^b$' } })),
      'a of the body must fit another pattern from now on.',
    ],
    [
      'a form that is no longer accepted',
      form(object({ a: text })),
      body(object({ a: text })),
      'the body (multipart/form-data) is no longer accepted.',
    ],
    [
      'a form with a new required field',
      form(object({ a: text })),
      form(object({ a: text, b: text }, ['b'])),
      'b of the body (multipart/form-data) must be sent from now on.',
    ],
    [
      'the same of JSON and a form, which is one line',
      operation({ requestBody: { content: { ...json(object({})).content, ...formContent(object({})) } } }),
      operation({
        requestBody: {
          content: {
            ...json(object({ b: text }, ['b'])).content,
            ...formContent(object({ b: text }, ['b'])),
          },
        },
      }),
      'b of the body must be sent from now on.',
    ],
    [
      'a reply in another format',
      reply(text),
      operation({ responses: { 200: { content: { 'text/csv': { schema: text } } } } }),
      'the reply 200 is no longer application/json.',
    ],
    [
      'a reply with another choice',
      reply(choice('a', 'b')),
      reply(choice('a', 'b', 'c')),
      'the reply 200 may be "c" from now on.',
    ],
    [
      'a reply that was one of some values',
      reply(choice('a', 'b')),
      reply(text),
      'the reply 200 may have other values from now on.',
    ],
    [
      'a field of an object that may be null',
      reply({ anyOf: [object({ a: text }), { type: 'null' }] }),
      reply({ anyOf: [object({ b: text }), { type: 'null' }] }),
      'a of the reply 200 is gone.',
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
    [
      'a parameter of more choices',
      parameters(query('q', { schema: choice('a') })),
      parameters(query('q', { schema: choice('a', 'b') })),
    ],
    ['a wider limit', body(object({ a: { minimum: 2 } })), body(object({ a: { minimum: 1 } }))],
    ['a limit that is gone', body(object({ a: { maxLength: 2 } })), body(object({ a: {} }))],
    ['a reply of fewer choices', reply(choice('a', 'b')), reply(choice('a'))],
    ['a reply with a limit', reply(number), reply({ ...number, maximum: 9 })],
    [
      'a form that is accepted beside JSON',
      body(object({})),
      operation({ requestBody: { content: { ...json(object({})).content, ...formContent(object({})) } } }),
    ],
    ['a new field of the reply', reply(object({ a: text })), reply(object({ a: text, b: text }, ['b']))],
    ['a reply of fewer types', reply({ type: ['string', 'null'] }), reply(text)],
    ['a reply that is not known before a run', reply(object({ a: text })), reply({})],
    ['an operation that is gone, which has a line of its own', reply(text), { paths: {} }],
  ])('%s', (_what, before, after) => {
    expect(documentBreaks(before, after)).toEqual([])
  })

  test('a schema that contains itself in many fields ends', () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, { $ref: '#/x/Node' }]))
    const self = { ...reply({ $ref: '#/x/Node' }), schemas: { Node: object(fields) } }
    expect(documentBreaks(self, self)).toEqual([])
  })

  test('a schema that contains itself ends', () => {
    const self = { ...reply({ $ref: '#/x/Node' }), schemas: { Node: object({ next: { $ref: '#/x/Node' } }) } }
    expect(documentBreaks(self, self)).toEqual([])
  })
})
