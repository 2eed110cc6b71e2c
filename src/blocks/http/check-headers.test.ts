import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PinError } from '../block.ts'
import { checkHeaders } from './reply-headers.ts'

test.each([
  [{ '': 'a' }, 'may not have the name ""'],
  [{ 'a:b': 'c' }, 'may not have the name "a:b"'],
  [{ 'a\nb': 'c' }, 'may not have the name "a\\nb"'],
  [JSON.parse('{"__proto__":"a"}'), 'may not have the name "__proto__"'],
  [{ Connection: 'close' }, 'may not set "Connection" here'],
  [{ TE: 'trailers' }, 'may not set "TE" here'],
  [{ 'X-Mine': 'a' }, 'may not set "X-Mine" here'],
  [{ a: {} }, 'must give text for "a"'],
  [{ a: 'b\u0000' }, 'must give "a" one line'],
  [{ a: 'b\u007f' }, 'must give "a" one line'],
])('%j is refused: %s', (input, message) => {
  expect(() => checkHeaders(input, (name) => name === 'x-mine')).toThrow(PinError)
  expect(() => checkHeaders(input, (name) => name === 'x-mine')).toThrow(message)
})

test('names become lower case, values text; empty ones are left out', () => {
  expect(checkHeaders(undefined, () => false)).toEqual({})
  expect(checkHeaders({ 'X-A': 1, b: true, c: null, d: 'é\t', E: '' }, () => false)).toEqual({
    'x-a': '1',
    b: 'true',
    d: 'é\t',
    e: '',
  })
})

test('whatever is given, what comes out can be written as one header, or it is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, value) => {
      try {
        for (const [header, text] of Object.entries(checkHeaders({ [name]: value }, () => false))) {
          // The platform's own idea of a header.
          new Headers([[header, text]])
          expect(`${header}: ${text}`).not.toMatch(/[\r\n\0]/)
        }
      } catch (error) {
        expect(error).toBeInstanceOf(PinError)
      }
    }),
  )
})
