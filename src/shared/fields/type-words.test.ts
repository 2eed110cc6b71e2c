import { expect, test } from 'vitest'
import { inputTypes } from '../pages/page-input.ts'
import { pinTypes } from '../pin-type.ts'
import { requestFields, requestFieldsProblem, requestTypes } from '../request-field.ts'
import { fieldTypes } from './field-type.ts'
import { otherWords, wordFor } from './type-words.ts'

test.each([
  // Written, and what it means for fields, schemas, pins and inputs.
  ['text', 'string', 'text', 'value', 'text'],
  ['string', 'string', 'text', 'value', 'text'],
  ['value', 'string', 'text', 'value', 'text'],
  ['line', 'line', 'line', 'line', 'line'],
  ['one line', 'line', 'line', 'line', 'line'],
  ['long_text', 'long_text', undefined, undefined, 'area'],
  ['number', 'number', 'number', 'number', 'number'],
  ['decimal', 'decimal', 'number', 'number', 'number'],
  ['whole number', 'integer', 'whole number', 'number', 'number'],
  ['integer', 'integer', 'whole number', 'number', 'number'],
  ['condition', 'boolean', 'condition', 'condition', 'check'],
  ['boolean', 'boolean', 'condition', 'condition', 'check'],
  ['day', 'day', 'day', 'date', 'date'],
  ['date', 'date', 'date', 'date', 'date'],
  ['instant', 'instant', 'date', 'date', 'date_time'],
  ['date_time', 'instant', 'date', 'date', 'date_time'],
  ['list', 'list', 'list', 'array', undefined],
  ['array', 'array', 'list', 'array', undefined],
  ['telepathy', undefined, undefined, undefined, undefined],
])('%s is %s of a field, %s of a schema, %s of a pin and %s of an input', (written, ...meant) => {
  const places: readonly (readonly string[])[] = [fieldTypes, requestTypes, pinTypes, inputTypes]
  expect(places.map((words) => wordFor(written, words))).toEqual(meant)
})

test('a schema takes the words of fields', () => {
  const written = [
    { name: 'title', type: 'string', required: true },
    { name: 'count', type: 'integer' },
    { name: 'open', type: 'boolean' },
  ]
  expect(requestFieldsProblem(written)).toBeUndefined()
  expect(requestFields(written).map(({ type }) => type)).toEqual(['text', 'whole number', 'condition'])
  expect(requestFieldsProblem([{ name: 'a', type: 'telepathy' }])).toContain(
    'must have one of the types text',
  )
})

test('no word of a place is listed as one of another', () => {
  expect(otherWords(requestTypes)).toContain('string')
  expect(otherWords(requestTypes)).not.toContain('text')
})
