import { expect, test, vi } from 'vitest'
import { caselessCharacter, caselessText, soughtCaseless } from './caseless-text.ts'

test.each([
  ['ИВАН Петров', 'иван петров'],
  ['MÜLLER GmbH', 'müller gmbh'],
  ['Straße', 'strasse'],
  ['STRASSE', 'strasse'],
  ['GROẞ', 'gross'],
  ['İstanbul', 'istanbul'],
  ['ΟΔΟΣ ΟΔΟς', 'οδοσ οδοσ'],
  ['ﬁn', 'fin'],
  ['Ǆ ǅ ǆ', 'ǆ ǆ ǆ'],
  ['𐐀', '𐐨'],
  ['ﷺ東京', 'ﷺ東京'],
  ['100% a_b', '100% a_b'],
])('%s is %s in any case', (text, caseless) => {
  expect(caselessText(text)).toBe(caseless)
  expect(caselessText(caseless)).toBe(caseless)
})

test('a part of a text is a part of it in any case, and what is sought may be in any form', () => {
  expect(caselessText('ΟΔΟΣ').includes(caselessText('ΔΟΣ'))).toBe(true)
  expect(caselessText('Müller').includes(soughtCaseless('MU\u0308LL'))).toBe(true)
})

test('a text is in any case what each of its characters is', () => {
  const characters = Array.from({ length: 0x1_ffff }, (_, code) => String.fromCodePoint(code)).filter(
    (one) => one.isWellFormed() && (one.toLowerCase() !== one || one.toUpperCase() !== one),
  )
  expect(characters.length).toBeGreaterThan(2_500)
  const different = characters.filter((one) => {
    const text = `a${one}σ${one} ${one}`
    return caselessText(text) !== Array.from(text, caselessCharacter).join('')
  })
  expect(different).toEqual([])
})

test('letters that only change their case cost no call each', () => {
  const characters = vi.spyOn(String.prototype, 'toUpperCase')
  expect(caselessText('Привет МИР '.repeat(1_000))).toBe('привет мир '.repeat(1_000))
  expect(characters).not.toHaveBeenCalled()
  characters.mockRestore()
})
