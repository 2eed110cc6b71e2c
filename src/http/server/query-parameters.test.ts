import { parse } from 'node:querystring'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hideSecrets } from './hooks.ts'
import { queryParameters, takesEvents } from './query-parameters.ts'

const read = (text: string) => Object.entries(queryParameters(text))

test('a query is read as by the parser of Node', () => {
  const piece = fc.constantFrom('&', '=', 'a', 'b', 'bc', '__proto__', 'toString', '%41', '%', '+', 'é', '1')
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (query) => {
      expect(read(query)).toEqual(Object.entries(parse(query)))
    }),
    { numRuns: 2000 },
  )
})

test('no more parameters are read than by the parser of Node', () => {
  const many = Array.from({ length: 1200 }, (_, number) => `p${number}=1`).join('&')
  expect(read(many)).toEqual(Object.entries(parse(many)))
  expect(read(many.replaceAll('p7=1', ''))).toEqual(Object.entries(parse(many.replaceAll('p7=1', ''))))
})

test('they inherit nothing', () => {
  const query = queryParameters('a=1')
  expect(query.toString).toBeUndefined()
  expect(query.constructor).toBeUndefined()
  expect('hasOwnProperty' in query).toBe(false)
})

test('secrets among them are not logged', () => {
  expect(hideSecrets({ query: queryParameters('password=s&a=1') }).query).toEqual({
    password: '[secret]',
    a: '1',
  })
})

test.each<[string | undefined, boolean]>([
  ['application/json', false],
  ['text/html, application/json', false],
  ['text/event-stream;q=0', false],
  ['text/html, text/event-stream ; q=0', false],
  ['text/event-stream;q=2', false],
  [undefined, true],
  [' ', true],
  ['text/html,  text/event-stream', true],
  ['text/html, TEXT/* ; q=0.1', true],
  ['*/*', true],
])('accept: %j takes events: %j', (accept, takes) => {
  expect(takesEvents(accept)).toBe(takes)
})
