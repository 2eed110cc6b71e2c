/** OpenAPI documents as blocks offer them: five large public ones without loss, and what documents may have wrong. */
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, test, vi } from 'vitest'
import { publicDocuments } from '../../../test/public-documents.ts'
import { operationProblem } from '../../blocks/pins/operation-problem.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { operationInPins, operationOutPins } from '../../shared/operations/operation.ts'
import { ApiDocument } from './api-document.ts'
import { packedDocument } from './operations-thread.ts'
import { type FoundOperation, type FoundOperations, readOperations } from './read-operations.ts'

function read(document: JsonObject): FoundOperations {
  return readOperations(new ApiDocument(JSON.stringify({ openapi: '3.0.3', ...document })))
}
/** One operation: GET /a. */
function one(operation: JsonObject, more: JsonObject = {}): FoundOperation {
  const { operations } = read({ ...more, paths: { '/a': { get: operation } } })
  const [first] = operations
  if (!first) throw new TypeError('The document has an operation.')
  return first
}
const text = (value: unknown) => JSON.stringify(value)

/** Characters of operations that the thread may give at once: the event loop takes them in one step. */
const MOST_OF_PART = 1024 * 1024

async function inParts(bytes: Buffer) {
  const emitted = vi.spyOn(Worker.prototype, 'emit')
  try {
    const packed = await packedDocument(bytes)
    const answers = emitted.mock.calls.flatMap(([event, answer]) => (event === 'message' ? [answer] : []))
    const parts = answers
      .filter((answer) => 'operations' in answer)
      .map((part) => JSON.stringify(part).length)
    expect(parts.length).toBeGreaterThanOrEqual(packed.operations.length / 100)
    expect(Math.max(...parts)).toBeLessThan(MOST_OF_PART)
    return packed
  } finally {
    emitted.mockRestore()
  }
}

describe.each(publicDocuments)('%s', (_, file, count) => {
  const source = readFileSync(file(), 'utf8')
  const document = new ApiDocument(source)
  const found = readOperations(document)
  const byId = new Map(
    found.operations.map((each) => [`${each.operation.method} ${each.operation.path}`, each]),
  )
  /** Each operation of the document, with what was made of it. */
  const pairs = Object.entries(isJsonObject(document.root.paths) ? document.root.paths : {}).flatMap(
    ([path, item]) =>
      Object.entries(document.object(item) ?? {}).flatMap(([method, own]) => {
        const each = byId.get(`${method.toUpperCase()} ${path}`)
        return ['get', 'put', 'post', 'patch', 'delete', 'head', 'options'].includes(method) &&
          isJsonObject(own)
          ? [{ own, item: document.object(item) ?? {}, each }]
          : []
      }),
  )
  const saidOf = ({ operation }: FoundOperation) =>
    found.left_out.flatMap((left) => (left.operation === operation.id ? [left.what] : [])).join('\n')

  test('each operation has a block that can be deployed', () => {
    expect(found.operations).toHaveLength(count)
    expect(pairs).toHaveLength(count)
    for (const { each } of pairs) expect(operationProblem(each?.operation)).toBeUndefined()
    expect(new Set(found.operations.map(({ operation }) => operation.id)).size).toBe(count)
  })

  test('each parameter has a pin, with its choices', () => {
    for (const { own, item, each } of pairs) {
      const parameters = [item.parameters, own.parameters].flatMap((list) =>
        Array.isArray(list) ? list : [],
      )
      for (const parameter of parameters.map((each) => document.object(each) ?? {})) {
        const pin = each?.operation.pins.find(
          (pin) => (pin.name ?? pin.pin) === parameter.name && pin.in === parameter.in,
        )
        if (
          parameter.in === 'header' &&
          /^(?:accept|content-type|authorization)$/i.test(String(parameter.name))
        )
          continue
        expect(pin, `${each?.operation.id}: ${text(parameter)}`).toBeDefined()
        expect(pin?.required ?? false).toBe(parameter.required === true || parameter.in === 'path')
        const schema = document.object(parameter.schema)
        if (Array.isArray(schema?.enum))
          for (const value of schema.enum)
            expect(`${text(pin?.choices)} ${pin?.help}`).toContain(String(value))
      }
    }
  })

  test('each field of a body has a pin, and each other media type is named', () => {
    for (const { own, each } of pairs) {
      const content = document.object(own.requestBody)?.content
      if (!isJsonObject(content) || !each) continue
      for (const [name, media] of Object.entries(content)) {
        const type = name.split(';')[0] ?? ''
        const sent = type === '*/*' ? 'application/json' : type
        if (each.operation.body?.type !== sent) {
          expect(saidOf(each)).toContain(`a body as ${type}`)
          continue
        }
        const schema = document.object(isJsonObject(media) ? media.schema : null)
        const properties = isJsonObject(schema?.properties) ? schema.properties : {}
        for (const [field, property] of Object.entries(properties)) {
          const about = document.object(property)
          if (about?.readOnly === true || each.operation.body.pin === 'body') continue
          const pin = each.operation.pins.find((pin) => pin.in === 'body' && (pin.name ?? pin.pin) === field)
          expect(pin, `${each.operation.id}: ${field}`).toBeDefined()
          if (about?.format === 'binary') expect(pin?.help).toContain('A file')
          if (Array.isArray(about?.enum))
            for (const value of about.enum.filter((value) => value !== null))
              expect(`${text(pin?.choices)} ${pin?.help}`).toContain(String(value))
        }
      }
    }
  })

  test('each status code is a way, each header of a reply a pin, and each alternative is in the types', () => {
    for (const { own, each } of pairs) {
      const pins = operationOutPins(each?.operation)
      for (const [status, reply] of Object.entries(isJsonObject(own.responses) ? own.responses : {})) {
        if (/^[1345]/.test(status)) expect(pins).toHaveProperty(`status_${status.toLowerCase()}`)
        const { headers = {}, content = {} } = document.object(reply) ?? {}
        for (const name of Object.keys(headers as JsonObject))
          if (name.toLowerCase() !== 'content-type')
            expect(pins).toHaveProperty(`header_${name.toLowerCase().replace(/\W+/g, '_')}`)
        for (const media of Object.values(content as JsonObject)) {
          const schema = document.object(isJsonObject(media) ? media.schema : null)
          if (Array.isArray(schema?.oneOf) && schema.oneOf.length > 1) expect(each?.types).toMatch(/ \| /)
        }
      }
    }
  })

  test('each way to sign in is said', () => {
    const components = isJsonObject(document.root.components) ? document.root.components : {}
    const schemes = isJsonObject(components.securitySchemes) ? Object.keys(components.securitySchemes) : []
    for (const { own, each } of pairs) {
      const security = own.security ?? document.root.security
      if (Array.isArray(security)) expect(each?.sign_in).toHaveLength(security.length)
    }
    expect(schemes.length === 0 || found.operations.some(({ sign_in }) => sign_in.length > 0)).toBe(true)
  })

  test('the thread gives the same, in parts that are short', async () => {
    const packed = await inParts(Buffer.from(source))
    expect(packed.operations.map(({ operation, hash }) => [operation, hash])).toEqual(
      found.operations.map(({ operation }) => [operation.id, operation.hash]),
    )
    expect(packed.left_out).toEqual(found.left_out)
  })
})

describe('documents that are refused', () => {
  const deep = `{"openapi":"3.0.0","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
  test.each<[string, string, string]>([
    ['no JSON', '{"openapi": ', 'is not JSON'],
    ['a list', '[]', 'not an OpenAPI document'],
    ['Swagger 2', '{"swagger":"2.0"}', 'Swagger 2.0'],
    ['a later version', '{"openapi":"4.0.0"}', '3.1'],
    ['too deep', deep, '200 objects in each other'],
    [
      'a reference outside',
      '{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[{"$ref":"http://169.254.169.254/x"}]}}}}',
      'is not opened',
    ],
    ['a file outside', '{"openapi":"3.1.0","paths":{"/a":{"$ref":"file:///etc/passwd"}}}', 'is not opened'],
    [
      'a reference to nothing',
      '{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/x"}}}}}}',
      'leads nowhere',
    ],
    [
      'references in a circle',
      '{"openapi":"3.1.0","a":{"$ref":"#/b"},"b":{"$ref":"#/a"},"paths":{"/a":{"$ref":"#/a"}}}',
      'in a circle',
    ],
  ])('%s', async (_, source, message) => {
    await expect(packedDocument(Buffer.from(source))).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining(message),
    })
  })

  test('bytes that are no text', async () => {
    await expect(packedDocument(Buffer.from([0xff, 0xfe]))).rejects.toMatchObject({
      message: 'The document is not UTF-8.',
    })
  })
})

test('schemas in circles end, by each of their ways', () => {
  const node = { $ref: '#/components/schemas/Node' }
  const schemas = {
    Node: {
      type: 'object',
      properties: {
        next: node,
        all: { type: 'array', items: node },
        other: { $ref: '#/components/schemas/Or' },
      },
    },
    Or: { oneOf: [{ $ref: '#/components/schemas/Or' }, { allOf: [{ $ref: '#/components/schemas/And' }] }] },
    And: { allOf: [{ $ref: '#/components/schemas/And' }, node] },
  }
  const content = { 'application/json': { schema: node } }
  const found = one(
    { requestBody: { content }, responses: { 200: { content } } },
    { components: { schemas } },
  )
  expect(found.operation.pins.map(({ pin, type }) => [pin, type])).toEqual([
    ['next', 'object'],
    ['all', 'array'],
    ['other', 'any'],
  ])
  expect(found.types).toContain('type Node = { next?: Node, all?: Node[], other?: Or }')
  expect(found.operation.gives?.shape).toEqual({ next: 'any', all: ['any'], other: 'any' })
})

const json = (schema: JsonObject) => ({ content: { 'application/json': { schema } } })
const fields = (properties: JsonObject) => ({ type: 'object', properties })
const [string, integer, number] = [{ type: 'string' }, { type: 'integer' }, { type: 'number' }]
const wide = (prefix: string) =>
  Object.fromEntries(Array.from({ length: 150 }, (_none, at) => [`${prefix}${at}`, string]))

test.each<readonly [string, JsonObject, unknown]>([
  ['nothing known', { 200: json({}) }, undefined],
  [
    'a text beside it',
    { 200: { content: { 'text/csv': {}, ...json(fields({ a: string })).content } } },
    undefined,
  ],
  ['a file in it', { 200: json(fields({ a: { type: 'string', format: 'binary' } })) }, { a: 'any' }],
  ['two types', { 200: json(fields({ a: { type: ['string', 'integer'] } })) }, { a: 'any' }],
  ['null beside it', { 200: json(fields({ a: { type: ['string', 'null'] } })) }, { a: 'text' }],
  [
    'kinds',
    { 200: json(fields({ a: integer, b: number, c: { type: 'boolean' }, d: { type: 'array' } })) },
    { a: 'whole', b: 'number', c: 'condition', d: ['any'] },
  ],
  ['a list', { 200: json({ type: 'array', items: fields({ a: string }) }) }, [{ a: 'text' }]],
  [
    'parts put together',
    { 200: json({ allOf: [fields({ a: string }), fields({ b: integer })] }) },
    { a: 'text', b: 'whole' },
  ],
  [
    'one of two objects',
    { 200: json({ oneOf: [fields({ a: string, b: integer }), fields({ b: number, c: string })] }) },
    { a: 'text', b: 'number', c: 'text' },
  ],
  [
    'an object or a list',
    { 200: json({ anyOf: [fields({ a: string }), { type: 'array', items: string }] }) },
    undefined,
  ],
  [
    'several successes',
    { 200: json(fields({ a: string })), 201: json(fields({ a: integer, b: string })) },
    { a: 'any', b: 'text' },
  ],
  [
    'what a failure holds',
    { 200: json(fields({ a: string })), 404: json(fields({ message: string })) },
    { a: 'text', message: 'text' },
  ],
  ['a failure of any kind', { 200: json(fields({ a: string })), default: json({}) }, undefined],
  ['a failure without a body', { 200: json(fields({ a: string })), 404: {} }, { a: 'text' }],
  [
    'more than has room',
    { 200: json(fields({ ...wide('a'), b: fields(wide('b')), c: fields(wide('c')) })) },
    expect.objectContaining({ a0: 'text', b: 'any', c: 'any' }),
  ],
])('the shape of replies: %s', (_, responses, shape) => {
  const { operation } = one({ responses })
  expect(operation.gives?.shape).toEqual(shape)
  expect(operationProblem(operation)).toBeUndefined()
})

test.each<readonly [string, unknown]>([
  ['a kind that is none', { a: 'texts' }],
  ['a list of two', ['text', 'text']],
  ['a number', 1],
  ['seven levels', [[[[[[[['text']]]]]]]]],
  ['401 fields', Object.fromEntries(Array.from({ length: 401 }, (_none, at) => [`a${at}`, 'text']))],
])('a shape with %s is no operation', (_, shape) => {
  const { operation } = one({ responses: { 200: json(fields({ a: string })) } })
  const wrong = { ...operation, gives: { ...operation.gives, shape } }
  expect(operationProblem(wrong)).toContain('must be an operation')
})

test('20 MB of operations that use the same schemas', async () => {
  const ref = (at: number) => ({ $ref: `#/components/schemas/S${at % 400}` })
  const schema = (at: number) => ({ ...fields({ next: ref(at + 1) }), description: 'x'.repeat(45_000) })
  const get = (at: number) => ({ description: 'y'.repeat(1_000), responses: { 200: json(ref(at)) } })
  const schemas = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`S${at}`, schema(at)]))
  const paths = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`/p${at}`, { get: get(at) }]))
  const bytes = Buffer.from(JSON.stringify({ openapi: '3.0.0', paths, components: { schemas } }))
  expect(bytes.length).toBeGreaterThan(20_000_000)
  expect((await inParts(bytes)).operations).toHaveLength(2_000)
})

test('one document is read at a time: of seven two are refused, and one that is no longer asked for gives its place back', async () => {
  const read = (signal?: AbortSignal) => packedDocument(Buffer.from('{"openapi":"3.0.0","paths":{}}'), signal)
  const leaving = new AbortController()
  const asked = [read(leaving.signal), ...Array.from({ length: 6 }, () => read())]
  const found = Promise.allSettled(asked)
  leaving.abort()
  const ends = (await found).map((one) => (one.status === 'fulfilled' ? '' : one.reason))
  expect(ends).toEqual([
    expect.objectContaining({ message: 'This document is no longer asked for.' }),
    ...Array(4).fill(''),
    ...Array(2).fill(expect.objectContaining({ code: 'UNAVAILABLE', retryAfter: 5 })),
  ])
  await expect(read(AbortSignal.abort())).rejects.toThrow('no longer asked for')
  await expect(read()).resolves.toHaveProperty('operations', [])
})

test('names of pins are names of expressions, and none is there twice', () => {
  const parameters = [
    ...[
      ['filter[a]', 'query'],
      ['filter(a)', 'query'],
      ['timeout', 'query'],
      ['id', 'query'],
      ['id', 'header'],
      ['2fa', 'query'],
      ['__proto__', 'query'],
    ].map(([name = '', place = '']) => ({ name, in: place, schema: { type: 'string' } })),
  ]
  const { operation } = one({ parameters })
  expect(operation.pins.map(({ pin }) => pin)).toEqual([
    ...['filter_a_', 'filter_a__query', 'timeout_query', 'id', 'id_header', 'p2fa', 'p__proto__'],
  ])
  expect(operationProblem(operation)).toBeUndefined()
  expect(Object.keys(operationInPins(operation))).toHaveLength(7)
})

test.each<[JsonObject, JsonObject]>([
  [{ type: 'string' }, { type: 'value' }],
  [
    { type: 'string', enum: ['a', 'b'] },
    { type: 'value', choices: ['a', 'b'] },
  ],
  [{ const: 'a' }, { type: 'value', choices: ['a'] }],
  [{ type: ['string', 'null'], format: 'date-time' }, { type: 'date' }],
  [
    { type: 'integer', minimum: 1, maximum: 5 },
    { type: 'number', min: 1, max: 5, integer: true },
  ],
  [
    { type: 'integer', enum: [1, 2] },
    { type: 'number', integer: true, help: 'Type: 1 | 2' },
  ],
  [
    { type: 'boolean', default: true },
    { type: 'condition', help: 'Empty: true.' },
  ],
  [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'any', help: 'Type: string | number' }],
  [{ anyOf: [{ type: 'string' }, { type: 'string', enum: ['a'] }] }, { type: 'value' }],
  [
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: {} } },
      ],
    },
    { type: 'object', help: 'Type: { a: string, b?: any }' },
  ],
  [
    { type: 'array', items: { enum: ['x', 'y'] } },
    { type: 'array', help: 'Type: ("x" | "y")[]' },
  ],
  [{ type: 'string', format: 'binary' }, { type: 'any' }],
  [{}, { type: 'any' }],
])('a parameter of %j is %j', (schema, pin) => {
  const { operation } = one({ parameters: [{ name: 'c', in: 'query', schema }] })
  expect(operation.pins[0]).toMatchObject({ pin: 'c', in: 'query', ...pin })
})

test('what no block offers is named', () => {
  const found = read({
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'k' }, tls: { type: 'mutualTLS' } },
    },
    webhooks: { a: {}, b: {} },
    paths: {
      '/a': {
        trace: {},
        post: {
          operationId: 'add',
          security: [{ key: [] }],
          servers: [{ url: 'https://b.example' }],
          callbacks: { done: {} },
          requestBody: { content: { 'application/xml': {}, 'application/json': {} } },
          parameters: [{ in: 'querystring', name: 'q' }],
        },
      },
    },
  })
  expect(found.left_out.map(({ operation, what }) => `${operation}: ${what}`).sort()).toEqual([
    ': 2 webhooks, which the API sends by itself',
    ': TRACE /a: the method',
    'add: a body as application/xml: it is sent as application/json',
    'add: a parameter in "querystring"',
    'add: its callbacks, which the API sends by itself',
    'add: its own server, https://b.example: add a connection to it',
    'add: its sign-in, which no connection offers: the query k',
  ])
})

describe('the hash of an operation', () => {
  const pet = (schema: JsonObject): JsonObject => ({
    components: { schemas: { Pet: schema, Other: { type: 'string' } } },
  })
  const operation: JsonObject = {
    parameters: [{ name: 'c', in: 'query', schema: { type: 'string' } }],
    responses: {
      200: {
        description: 'd',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
      },
    },
  }
  const schema: JsonObject = {
    type: 'object',
    properties: { title: { type: 'string', description: 'Its title' } },
  }
  const hashOf = (own: JsonObject, more: JsonObject) => one(own, more).operation.hash
  const before = hashOf(operation, pet(schema))

  test.each<[string, JsonObject, JsonObject, boolean]>([
    [
      'texts',
      { ...operation, summary: 'Other', description: 'x', tags: ['a'] },
      pet({ ...schema, description: 'y', example: {} }),
      false,
    ],
    ['the order of names', operation, pet({ properties: schema.properties ?? null, type: 'object' }), false],
    [
      'a schema that it does not use',
      operation,
      { components: { schemas: { Pet: schema, Other: { type: 'number' } } } },
      false,
    ],
    [
      'a field of a reply that is called title',
      operation,
      pet({ type: 'object', properties: { title: { type: 'number' } } }),
      true,
    ],
    [
      'a parameter that is required',
      { ...operation, parameters: [{ name: 'c', in: 'query', required: true, schema: { type: 'string' } }] },
      pet(schema),
      true,
    ],
    [
      'another status code',
      { ...operation, responses: { ...(operation.responses as JsonObject), 404: { description: 'n' } } },
      pet(schema),
      true,
    ],
  ])('%s', (_, own, more, isOther) => {
    expect(hashOf(own, more) !== before).toBe(isOther)
  })
})
