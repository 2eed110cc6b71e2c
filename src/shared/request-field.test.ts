import { expect, test } from 'vitest'
import { requestFields, requestFieldsProblem } from './request-field.ts'

test.each([
  ['text', 'must be a list of fields'],
  [Array.from({ length: 101 }, (_, n) => ({ name: `f${n}`, type: 'any' })), 'at most 100'],
  [['title'], 'at 0 that is no object'],
  [[{ name: 'a b', type: 'text' }], '"a b" that has no name of letters'],
  [[{ name: '__proto__', type: 'text' }], 'has no name of letters'],
  [[{ name: 'constructor', type: 'text' }], 'has a name that is taken'],
  [[{ name: 'body', type: 'text' }], 'has a name that is taken'],
  [
    [
      { name: 'a', type: 'text' },
      { name: 'a', type: 'text' },
    ],
    '"a" that is there twice',
  ],
  [[{ name: 'a', type: 'telepathy' }], 'must have one of the types text, line'],
  [[{ name: 'a', type: 'text', in: 'header' }], 'must be in path, query or body'],
  [[{ name: 'a', type: 'text', required: 'yes' }], 'true or false as required'],
  [[{ name: 'a', type: 'text', maximum: 5 }], 'unknown key "maximum"'],
  [[{ name: 'a', type: 'number', min: '1' }], 'a number as min and max'],
  [[{ name: 'a', type: 'text', max_length: -1 }], 'a whole number as min_length'],
  [[{ name: 'a', type: 'text', pattern: '(' }], 'has a pattern that'],
  [[{ name: 'a', type: 'text', choices: [null] }], 'texts and numbers as choices'],
])('refused: %#', (value, message) => {
  expect(requestFieldsProblem(value)).toContain(message)
})

test('what fits is read with its limits', () => {
  const fields = [
    { name: 'a', type: 'text', required: true, in: 'query', max_length: 5, choices: ['x', 1] },
    { name: 'b', type: 'date', min: '2026-01-01', default: null },
  ]
  expect(requestFieldsProblem(fields)).toBeUndefined()
  expect(requestFields(fields)).toEqual([
    {
      name: 'a',
      type: 'text',
      required: true,
      default: undefined,
      in: 'query',
      max_length: 5,
      choices: ['x', 1],
    },
    { name: 'b', type: 'date', required: false, default: undefined, in: undefined, min: '2026-01-01' },
  ])
})
