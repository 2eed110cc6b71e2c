import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonMistake } from './json-mistake.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a mistake in JSON', () => {
  it.each([
    ['', 'Line 1, column 1: a value is expected, but it ends here'],
    ['{"a":1,}', 'Line 1, column 8: a name in double quotes'],
    ['{\n  "a": tru\n}', 'Line 2, column 8: a value is expected'],
    ['{"a": 1', 'Line 1, column 8: a comma or } is expected, but it ends here'],
    ['{a: 1}', 'Line 1, column 2: a name in double quotes'],
    ['[1 2]', 'Line 1, column 4: a comma or ] is expected'],
    ['[1,]', 'Line 1, column 4: a value is expected'],
    ['{} {}', 'Line 1, column 4: nothing more'],
    ['"a\nb"', 'Line 1, column 1: a value is expected'],
    ['01', 'Line 1, column 2: nothing more'],
  ])('%j', (text, words) => {
    expect(jsonMistake(text).startsWith(words)).toBe(true)
  })

  it('is found exactly where the parser refuses', () => {
    const pieces = fc.array(fc.constantFrom(...'{}[],:" 1a-.e\\\n', 'true', 'null', '"k":', '"v"'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          pieces.map((list) => list.join('')),
          fc.json(),
        ),
        (text) => {
          expect(jsonMistake(text) === '').toBe(isJson(text))
        },
      ),
      { numRuns: 3_000 },
    )
  })
})
