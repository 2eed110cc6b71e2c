import { expect, test } from 'vitest'
import { withDescribedDefaults } from './endpoint-descriptions.ts'

test('a property says its default in words, at any depth, so that generated clients need not send it', () => {
  const schema = {
    type: 'object',
    properties: {
      limit: { type: 'integer', default: 50, description: 'Records a page.' },
      list: {
        type: 'array',
        items: { type: 'object', properties: { on: { type: 'boolean', default: false } } },
      },
      // Of the names `default` and `properties`.
      default: { type: 'string' },
      properties: { type: 'object', properties: { default: { default: 'a' } } },
    },
  }
  expect(withDescribedDefaults(schema)).toEqual({
    type: 'object',
    properties: {
      limit: { type: 'integer', description: 'Records a page. Default: `50`.' },
      list: {
        type: 'array',
        items: { type: 'object', properties: { on: { type: 'boolean', description: 'Default: `false`.' } } },
      },
      default: { type: 'string' },
      properties: { type: 'object', properties: { default: { description: 'Default: `"a"`.' } } },
    },
  })
})

test('a parameter keeps its default', () => {
  const parameter = { name: 'limit', in: 'query', schema: { type: 'integer', default: 50 } }
  expect(withDescribedDefaults(parameter)).toEqual(parameter)
})
