import { expect, test } from 'vitest'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { firstInput, sampleBody } from './hand-triggers.ts'

const content = { ...emptyContent, type: 'any' }

test('the input begins with what the trigger takes', () => {
  const pins = [
    { id: 'count', type: 'number' as const },
    { id: 'text', type: 'value' as const },
  ]
  const called = { block: 'b', title: '', content: { ...content, custom_out_pins: pins } }
  expect(firstInput({ ...called, on: 'function' }, 0)).toEqual({ count: 0, text: '' })
  expect(firstInput({ ...called, on: 'schedule' }, 0)).toEqual({ planned_at: '1970-01-01T00:00:00.000Z' })
  const listens = { ...content, in_pins: [{ id: 'events', value: ['on_removed'] }] }
  const document = { state: 'paid' }
  expect(firstInput({ ...called, on: 'storage', content: listens }, 0, document)).toEqual({
    event: 'on_removed',
    document,
  })
  const page = { ...content, in_pins: [{ id: 'url', value: 'tasks/{guid}' }] }
  expect(firstInput({ ...called, on: 'page', content: page }, 0)).toEqual({ params: { guid: '' }, query: {} })
})

test('a body has the fields of the schema that belong into it, with their defaults', () => {
  const schema = [
    { name: 'title', type: 'text' },
    { name: 'stars', type: 'whole number', default: 3 },
    { name: 'size', type: 'number' },
    { name: 'tags', type: 'list' },
    { name: 'limit', type: 'number', in: 'query' },
  ]
  expect(sampleBody({ ...content, fields: { schema } })).toEqual({ title: '', stars: 3, size: 0, tags: [] })
  expect(sampleBody(content)).toEqual({})
})
