import { expect, test } from 'vitest'
import { caselessText, soughtCaseless } from './caseless-text.ts'

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
