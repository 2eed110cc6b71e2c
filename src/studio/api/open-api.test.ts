import { describe, expect, it } from 'vitest'
import { type ApiDocument, exampleOf, operationsByTag, schemaFields, typeWords } from './open-api.ts'

const error = {
  description: '',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}
const document: ApiDocument = {
  tags: [{ name: 'Tasks' }],
  components: {
    schemas: {
      Error: { type: 'object' },
      Owner: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, age: { type: 'integer' } },
      },
      Tree: { type: 'object', properties: { child: { $ref: '#/components/schemas/Tree' } } },
    },
  },
  paths: {
    '/api/v1/users/me': { get: { tags: ['Users'], responses: { '401': error } } },
    '/api/v1/tasks': { get: { tags: ['Tasks'], responses: {} }, post: { tags: ['Tasks'], responses: {} } },
  },
}

describe('operations', () => {
  it('come by tag, those of blueprints first', () => {
    const tags = [...operationsByTag(document)].map(([tag, list]) => [tag, list.map(({ id }) => id)])
    expect(tags).toEqual([
      ['Tasks', ['GET /api/v1/tasks', 'POST /api/v1/tasks']],
      ['Users', ['GET /api/v1/users/me']],
    ])
  })

  it('know whose they are', () => {
    const all = [...operationsByTag(document).values()].flat()
    expect(all.map(({ isCustom }) => isCustom)).toEqual([true, true, false])
  })
})

describe('an example of a body', () => {
  it.each([
    ['what is needed', { $ref: '#/components/schemas/Owner' }, { name: '' }],
    ['all, where nothing is', { type: 'object', properties: { a: { type: 'boolean' } } }, { a: false }],
    ['the first choice', { enum: ['x', 'y'] }, 'x'],
    ['the default', { type: 'integer', default: 50 }, 50],
    ['no end of a tree', { type: 'array', items: { $ref: '#/components/schemas/Tree' } }, []],
  ])('has %s', (_what, schema, value) => {
    expect(exampleOf(schema, document)).toEqual(value)
  })

  it('comes to an end', () => {
    expect(JSON.stringify(exampleOf({ $ref: '#/components/schemas/Tree' }, document)).length).toBeLessThan(
      100,
    )
  })
})

describe('the fields of a schema', () => {
  it('have dotted names, with those of lists and references', () => {
    const schema = {
      type: 'object',
      required: ['owners'],
      properties: {
        owners: { type: 'array', items: { $ref: '#/components/schemas/Owner' } },
        _meta: { properties: { guid: {} } },
      },
    }
    expect(schemaFields(schema, document).map(({ name, type, required }) => [name, type, required])).toEqual([
      ['owners', 'object[]', true],
      ['owners[].name', 'string', true],
      ['owners[].age', 'integer', false],
      ['_meta', 'any', false],
    ])
  })

  it.each([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string' }] }, 'string | integer'],
    [{ const: true }, 'true'],
  ])('%j is %s', (schema, words) => {
    expect(typeWords(schema, document)).toBe(words)
  })
})
