import fc from 'fast-check'
import { expect, test } from 'vitest'
import { phraseCount } from '../../search/match-text.ts'
import { CountedText } from './ranked-words.ts'

test('a phrase is counted as the reference counts it, in short and in long texts', () => {
  const word = fc.constantFrom('a', 'b', 'ab', 'abc', 'c')
  const phrase = fc.record({ tokens: fc.array(word, { minLength: 1, maxLength: 3 }), prefix: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(1, 40),
      phrase,
      (words, times, requested) => {
        const tokens = Array.from({ length: times }, () => words).flat()
        expect(new CountedText(tokens).count(requested)).toBe(phraseCount(requested, tokens))
      },
    ),
  )
})
