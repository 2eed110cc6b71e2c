import fc from 'fast-check'
import { expect, test } from 'vitest'
import { areSameTexts, composedText, composedValue, soughtValues } from './composed-text.ts'

test.each([
  ['Mu\u0308ller', 'Müller'],
  ['\u212b', 'Å'],
  ['\u1112\u1161\u11ab', '한'],
  ['が'.normalize('NFD'), 'が'],
  ['Grüße Иван 東京 😀', 'Grüße Иван 東京 😀'],
])('%j is stored as %j', (text, composed) => {
  expect(composedText(text)).toBe(composed)
  expect([areSameTexts(text, composed), areSameTexts(text, `${composed}x`)]).toEqual([true, false])
})

test('texts in lists and objects are composed, and a value without such texts is the same one', () => {
  const value = { a: ['u\u0308', 1, { b: 'o\u0308' }], c: null }
  expect(composedValue(value)).toEqual({ a: ['ü', 1, { b: 'ö' }], c: null })
  // A name is what expressions, filters and forms say, character by character.
  const named = { 'u\u0308': 'ü', ü: 'u' }
  expect(composedValue(named)).toBe(named)
  const plain = { a: ['ü', 1, { b: '東' }], c: null }
  expect(composedValue(plain)).toBe(plain)
})

test('marks without end are left as they are, at once', () => {
  const marks = `a${'\u0301\u0323'.repeat(500_000)}`
  expect(composedText(marks)).toBe(marks)
})

test('a search asks for the composed text and for the given one', () => {
  expect([soughtValues('u\u0308'), soughtValues('ü'), soughtValues(5)]).toEqual([
    ['ü', 'u\u0308'],
    ['ü'],
    [5],
  ])
})

test('composing twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const composed = composedText(text.normalize('NFD'))
      expect(composedText(composed)).toBe(composed)
      expect(areSameTexts(text, text.normalize('NFD'))).toBe(true)
    }),
  )
})
