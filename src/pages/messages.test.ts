import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }
import { messagesFor, pageLocales } from './messages.ts'

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = { en, de }

test('each file is a language that is known', () => {
  const files = readdirSync(join(import.meta.dirname, 'messages')).map((name) => name.replace('.json', ''))
  expect(files.sort()).toEqual([...pageLocales].sort())
})

test.each(pageLocales)(
  '%s has the same keys as English, with the same parameters, and says something',
  (locale) => {
    const own = texts[locale] ?? {}
    expect(Object.keys(own).sort()).toEqual(Object.keys(en).sort())
    const parameters = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
    for (const [key, text] of Object.entries(en)) {
      expect([key, parameters(own[key])]).toEqual([key, parameters(text)])
      expect([key, own[key]?.trim()]).not.toEqual([key, ''])
    }
  },
)

test.each([
  ['de', 'Abmelden'],
  ['de-AT', 'Abmelden'],
  ['en-GB', 'Sign out'],
  ['fr', 'Sign out'],
  ['__proto__', 'Sign out'],
])('%s says %s', (locale, text) => {
  expect(messagesFor(locale === '__proto__' ? 'en' : locale)('signout.submit')).toBe(text)
})

test('parameters are put in as text, numbers as the language writes them', () => {
  expect(messagesFor('en')('table.range', { from: 1, to: 25, total: 100_000 })).toBe('1–25 of 100,000')
  expect(messagesFor('de')('table.range', { from: 1, to: 25, total: 100_000 })).toBe('1–25 von 100.000')
  expect(messagesFor('en')('table.filter', { column: '{column} $&' })).toBe('{column} $&')
  expect(messagesFor('en')('table.filter')).toBe('{column}')
})

test('one is said otherwise than many', () => {
  const { counted } = messagesFor('en')
  expect([0, 1, 2_000].map((count) => counted('table.rows', count))).toEqual([
    '0 rows',
    '1 row',
    '2,000 rows',
  ])
})
