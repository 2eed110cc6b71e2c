import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shownAlone, shownDifference, visible } from './value-differences.ts'

const joined = ({ lead, differs, tail }: ReturnType<typeof shownAlone>) => lead + differs + tail

test('two long texts are cut around the first difference', () => {
  const long = 'Welcome to our company, dear visitor with the name of '.repeat(4)
  const [before, after] = shownDifference(`${long}world, welcome`, `${long}visitor, welcome`)
  expect(joined(before)).toMatch(/^….*name of world, welcome$/)
  expect(joined(after)).toMatch(/^….*name of visitor, welcome$/)
  expect([before.isCut, after.isCut]).toEqual([true, true])
})

test('short texts are whole, and a text alone is cut at its end', () => {
  const [before, after] = shownDifference('“20”', '“50”')
  expect([before, after]).toEqual([
    { lead: '“', differs: '2', tail: '0”', isCut: false },
    { lead: '“', differs: '5', tail: '0”', isCut: false },
  ])
  expect(shownAlone('a'.repeat(500)).differs).toBe(`${'a'.repeat(120)}…`)
})

test('what cannot be seen is shown', () => {
  expect(visible('a\nb\tc\u200bd\u00a0')).toBe('a↵ b⇥c⟨U+200B⟩d⟨U+00A0⟩')
})

test('texts that differ look different, and no character is split', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '😀', '😁', '\u200b'), maxLength: 300 })
  fc.assert(
    fc.property(text, text, text, text, (start, one, other, end) => {
      const [a, b] = [`${start}${one}${end}`, `${start}${other}${end}`]
      const [before, after] = shownDifference(a, b)
      expect(joined(before).isWellFormed() && joined(after).isWellFormed()).toBe(true)
      expect(joined(before) === joined(after)).toBe(a === b)
      if (!before.isCut) expect(joined(before)).toBe(visible(a))
    }),
    { numRuns: 500 },
  )
})
