/** The search gives what JavaScript's own gives, and its work does not grow with the product of both lengths. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { functionContext } from '../../../test/function-context.ts'
import { lastPlace, textSearch } from './text-search.ts'

/** Few different characters, so that beginnings of the part are found often. */
const repetitive = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b', 'é', '🎈'), minLength, maxLength, size: 'max' })

test('it finds the places that JavaScript finds', () => {
  fc.assert(
    fc.property(repetitive(0, 600), repetitive(1, 12), fc.nat(700), (text, part, from) => {
      const search = textSearch(functionContext(), text, part)
      expect(search(from)).toBe(text.indexOf(part, from))
      expect(lastPlace(functionContext(), text, part)).toBe(text.lastIndexOf(part))
    }),
    { numRuns: 500 },
  )
})

test('one search finds all places in their order', () => {
  fc.assert(
    fc.property(repetitive(300, 900), repetitive(1, 6), (text, part) => {
      const search = textSearch(functionContext(), text, part)
      const pieces: string[] = []
      let from = 0
      for (let at = search(0); at !== -1; at = search(from)) {
        pieces.push(text.slice(from, at))
        from = at + part.length
      }
      expect([...pieces, text.slice(from)]).toEqual(text.split(part))
    }),
    { numRuns: 300 },
  )
})

test('a part that nearly fits everywhere is searched once through the text', () => {
  const text = 'a'.repeat(20_000)
  const part = `${'a'.repeat(2_000)}b${'a'.repeat(2_000)}`
  let work = 0
  const context = functionContext({
    spend: (_, more = 0) => {
      work += more
    },
  })
  expect(textSearch(context, text, part)(0)).toBe(-1)
  expect(work).toBeGreaterThan(text.length * 0.1)
  expect(work).toBeLessThan(text.length)
})
