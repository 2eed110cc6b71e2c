import { describe, expect, it } from 'vitest'
import { curlExample } from './docs-page.ts'
import type { ApiDocument, ApiSchema } from './open-api-document.ts'

const tree: ApiSchema = {
  type: 'object',
  required: ['name', 'children'],
  properties: {
    name: { type: 'string' },
    children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
  },
}

const document: ApiDocument = {
  openapi: '3.1.0',
  info: { title: 'T', version: '1' },
  paths: {},
  components: { schemas: { Tree: tree } },
}

const example = (schema: ApiSchema) =>
  curlExample(
    '/it"s/$HOME',
    'post',
    {
      responses: {},
      security: [{ bearer: [] }],
      requestBody: { content: { 'application/json': { schema } } },
    },
    document,
  )

describe('a curl example', () => {
  it('holds the token and the required fields, safely quoted', () => {
    const schema: ApiSchema = {
      type: 'object',
      required: ['text', 'count', 'on', 'kind', 'both'],
      properties: {
        text: { type: 'string', default: "it's" },
        count: { type: 'integer', minimum: 5 },
        on: { type: 'boolean' },
        kind: { enum: ['a', 'b'] },
        both: { anyOf: [{ type: 'number' }, { type: 'string' }] },
        optional: { type: 'string' },
      },
    }
    expect(example(schema)).toBe(
      [
        'curl -X POST "$QUOIN/it\\"s/\\$HOME"',
        `-H "Authorization: Bearer $TOKEN"`,
        `-H 'Content-Type: application/json'`,
        `-d '{"text":"it'\\''s","count":5,"on":true,"kind":"a","both":1}'`,
      ].join(' \\\n  '),
    )
  })

  it('comes to an end for a schema that holds itself', () => {
    expect(example({ $ref: '#/components/schemas/Tree' })).toContain('"children"')
  })
})
